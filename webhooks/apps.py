"""The Django app configuration of webhooks: events and their signed deliveries."""

from __future__ import annotations

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "webhooks"
