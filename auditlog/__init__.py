"""The audit log: one entry for each write operation that a caller tried."""
