"""The app that owns the worker loops' heartbeats."""

from __future__ import annotations

from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "config.jobs"
    label = "jobs"
