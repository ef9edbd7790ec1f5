"""The app that owns the notices to owners and members."""

from __future__ import annotations

from django.apps import AppConfig


class NoticesConfig(AppConfig):
    name = "config.notices"
    label = "notices"
