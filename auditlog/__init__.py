"""The package of the audit log, which has one entry for each write operation that a caller tried."""
