"""The URLs of the usage and billing API and of the dashboard's usage page."""

from __future__ import annotations

from django.urls import path

from billing.dashboard import usage
from billing.views import AgentUsageViewSet, BillingViewSet, ProcessorWebhookViewSet, UsageViewSet

USAGE_PATH = "dashboard/workspaces/<str:workspace_id>/usage"

urlpatterns = [
    path("usage", UsageViewSet.as_view({"get": "retrieve"})),
    path("agents/<str:agent_id>/usage", AgentUsageViewSet.as_view({"get": "retrieve"})),
    path("billing", BillingViewSet.as_view({"get": "retrieve"})),
    path("billing/checkout-sessions", BillingViewSet.as_view({"post": "create_checkout_session"})),
    path("billing/portal-sessions", BillingViewSet.as_view({"post": "create_portal_session"})),
    path("billing/webhooks/processor", ProcessorWebhookViewSet.as_view({"post": "create"})),
    path(USAGE_PATH, usage.show_usage, name="usage"),
    path(f"{USAGE_PATH}/caps", usage.change_caps, name="usage-caps"),
    path(f"{USAGE_PATH}/checkout", usage.redirect_to_checkout, name="usage-checkout"),
    path(f"{USAGE_PATH}/portal", usage.redirect_to_portal, name="usage-portal"),
    path(f"{USAGE_PATH}/charges", usage.download_month_charges, name="usage-charges"),
]
