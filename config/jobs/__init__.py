"""Background jobs: due rows in the database and the worker loops that process them. Imports no app."""
