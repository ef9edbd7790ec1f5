"""Post groups on the wire: `writes` is what callers send, `reads` what they get."""
