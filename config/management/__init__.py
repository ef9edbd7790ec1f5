"""The package of the `manage.py` commands that concern the whole service, such as `up` and `doctor`."""
