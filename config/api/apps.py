"""The `api` app, which owns the table of idempotency records."""

from __future__ import annotations

from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "config.api"
    label = "api"
