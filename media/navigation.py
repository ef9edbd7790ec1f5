"""The navigation entry of the media library in the dashboard."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from config.pages.navigation import DashboardPage

MEDIA = DashboardPage("media", _("Media"), "photo")
