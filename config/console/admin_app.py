"""The app config that replaces Django's admin site by OperatorConsole; a second config in apps.py would be ambiguous."""

from __future__ import annotations

from django.contrib.admin.apps import AdminConfig


class ConsoleConfig(AdminConfig):
    """Django's admin app with the operators' console as its site."""

    default_site = "config.console.admin_site.OperatorConsole"
