"""The AppConfig of django.contrib.admin that makes OperatorConsole the project's admin site.

It is not in config/console/apps.py, because Django finds an app's config automatically only if `apps.py` has just one.
"""

from __future__ import annotations

from django.contrib.admin.apps import AdminConfig


class OperatorAdminConfig(AdminConfig):
    """The app config of Django's admin, with the operators' console as its admin site."""

    default_site = "config.console.admin_site.OperatorConsole"
