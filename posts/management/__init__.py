"""The commands of posts for `manage.py`."""
