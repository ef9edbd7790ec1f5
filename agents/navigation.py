"""The link to the API keys page in the dashboard's navigation."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from config.pages.navigation import DashboardPage

API_KEYS = DashboardPage("api-keys", _("API keys"), "key", _("Connections"))
