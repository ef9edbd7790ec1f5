"""Navigation entries of the dashboard's webhook pages."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from config.pages.navigation import DashboardPage

WEBHOOKS = DashboardPage("webhooks", _("Webhooks"), "bolt", _("Connections"))
DELIVERY = DashboardPage("delivery")
