"""The package of the service's processes: gunicorn's web worker, the Celery worker, and `manage.py up`, which starts both."""
