"""The WSGI application of the service, which gunicorn serves."""

from __future__ import annotations

import gc
import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from config.api.rate_limit import rate_limiter_for_redis_url
from config.checks import require_valid_settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()
require_valid_settings()
# Load now what the first request would load, and exempt it all from garbage collection: one full collection of these objects
# would stop all requests of the process for about 50 ms.
import_module(settings.ROOT_URLCONF)
rate_limiter_for_redis_url(settings.REDIS_URL)
gc.freeze()
