"""The processes of the service: gunicorn's web worker, the Celery worker, and `manage.py up`, which starts both."""
