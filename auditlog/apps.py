"""The Django app configuration of the audit log."""

from __future__ import annotations

from django.apps import AppConfig


class AuditlogConfig(AppConfig):
    name = "auditlog"
