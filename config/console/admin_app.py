"""The Django app config that makes OperatorConsole the admin site; not in config/console/apps.py, which may have only one."""

from __future__ import annotations

from django.contrib.admin.apps import AdminConfig


class ConsoleConfig(AdminConfig):
    """The app config of Django's admin, with the operators' console as its admin site."""

    default_site = "config.console.admin_site.OperatorConsole"
