"""The `manage.py` commands of the service as a whole."""
