"""The Django app `console`, to which the table of operators' second factors belongs."""

from __future__ import annotations

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    name = "config.console"
    label = "console"
