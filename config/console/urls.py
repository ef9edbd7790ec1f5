"""Routes of operators and of the programs that watch the service."""

from __future__ import annotations

from django.urls import include, path

from config.console import health, metrics

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", metrics.metrics),
    path("", include("config.console.ops.urls")),
]
