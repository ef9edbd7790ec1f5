"""The WSGI application of the service, which gunicorn serves."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

from config.checks import require_valid_settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()
require_valid_settings()
