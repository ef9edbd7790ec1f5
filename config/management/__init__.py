"""The project's commands for `manage.py`."""
