"""The package of the service's `manage.py` commands: one module for each, named like the command."""
