"""The AppConfig of django.contrib.admin that makes OperatorConsole the project's admin site.

It is not in config/console/apps.py, because Django finds an app's config automatically only if `apps.py` has just one.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks


class OperatorAdminConfig(SimpleAdminConfig):
    """The app config of Django's admin, with the operators' console as its admin site.

    The admin's tables are registered when the URLs are loaded (config/urls.py), so that processes without pages, such as
    `manage.py up`, start without the modules of all pages.
    """

    default_site = "config.console.admin_site.OperatorConsole"

    def ready(self) -> None:
        checks.register(_check_admin, checks.Tags.admin)


def _check_admin(**options: Any) -> list[checks.CheckMessage]:
    """Register the tables of the admin, then run Django's system checks of the admin."""
    admin.autodiscover()
    return [*check_dependencies(**options), *check_admin_app(**options)]
