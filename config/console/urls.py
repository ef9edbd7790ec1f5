"""Routes of the health checks, /metrics and /ops."""

from __future__ import annotations

from django.urls import include, path

from config.console import health, metrics

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", metrics.metrics),
    path("", include("config.console.ops.urls")),
]
