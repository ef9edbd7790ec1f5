"""The processes of the service: gunicorn's web worker, the Celery worker, the supervisor and demo of `manage.py up`."""
