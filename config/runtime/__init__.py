"""The web and worker processes: gunicorn worker, Celery worker, supervisor, metrics server and `manage.py up`."""
