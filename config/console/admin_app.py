"""Django's admin as an app of this service. It stands apart from `apps.py`, where Django would take it for the app `site`."""

from __future__ import annotations

from django.contrib.admin.apps import AdminConfig


class ConsoleConfig(AdminConfig):
    """Its site is the operators' console."""

    default_site = "config.console.admin_site.OperatorConsole"
