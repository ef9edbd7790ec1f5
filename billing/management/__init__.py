"""Billing's commands for `manage.py`."""
