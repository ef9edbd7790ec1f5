"""The workspaces' commands for `manage.py`."""
