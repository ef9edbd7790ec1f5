"""The Django project package: settings, URL routes, the Celery app, and packages that all apps of the service share."""

from __future__ import annotations

import gc

# Importing creates 200,000 objects that stay. With Python's own threshold (700), looking through them for garbage again
# and again takes a sixth of the CPU time of the imports. Web and worker lower it once they have started.
gc.set_threshold(50_000, 10, 10)
