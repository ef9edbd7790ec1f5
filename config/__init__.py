"""The Django project package: settings, URL routes, the Celery app, and packages that all apps of the service share."""
