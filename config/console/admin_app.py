"""The Django app config that replaces the standard admin site by the operators' console (OperatorConsole)."""

from __future__ import annotations

from django.contrib.admin.apps import AdminConfig


class ConsoleConfig(AdminConfig):
    """The app config of Django's admin, with the operators' console as its site; apps.py may have only one config."""

    default_site = "config.console.admin_site.OperatorConsole"
