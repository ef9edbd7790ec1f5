"""Background jobs: due rows in the database, the worker loops that claim them, and heartbeats. Imports no app."""
