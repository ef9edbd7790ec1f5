"""The Celery app of the service, whose worker has additional start-up steps (config/runtime/worker.py)."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Celery would run all of Django's checks before it starts, and ignore what they find. The worker checks the settings
# (config/runtime/worker.py).
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("social-publishing-service")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(["config.runtime"])  # not an installed app, because it has no models
app.steps["worker"].update(
    (
        "config.runtime.worker:WorkerLoopsStep",
        "config.runtime.worker:CeleryBeatStep",
        "config.runtime.worker:MetricsServerStep",
    )
)
