"""The Django app config that makes OperatorConsole the admin site; it is not in apps.py, which must have only one."""

from __future__ import annotations

from django.contrib.admin.apps import AdminConfig


class ConsoleConfig(AdminConfig):
    """The app config of Django's admin, with the operators' console as its admin site."""

    default_site = "config.console.admin_site.OperatorConsole"
