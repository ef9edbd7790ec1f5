"""The WSGI application of the service, which gunicorn serves."""

from __future__ import annotations

import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from config.api.rate_limit import rate_limiter_for_redis_url
from config.checks import require_valid_settings
from config.runtime.garbage_collection import shorten_garbage_collections

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()
require_valid_settings()
# Load now what the first request would load.
import_module(settings.ROOT_URLCONF)
rate_limiter_for_redis_url(settings.REDIS_URL)
shorten_garbage_collections()
