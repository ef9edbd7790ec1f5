"""The URLs of the usage and billing API and of the dashboard's usage page."""

from __future__ import annotations

from django.urls import path

from billing.dashboard import usage
from billing.views import AgentUsageViewSet, BillingViewSet, ProcessorWebhookViewSet, UsageViewSet

PAGE = "dashboard/workspaces/<str:workspace_id>/usage"

urlpatterns = [
    path("usage", UsageViewSet.as_view({"get": "retrieve"})),
    path("agents/<str:agent_id>/usage", AgentUsageViewSet.as_view({"get": "retrieve"})),
    path("billing", BillingViewSet.as_view({"get": "retrieve"})),
    path("billing/checkout-sessions", BillingViewSet.as_view({"post": "create_checkout_session"})),
    path("billing/portal-sessions", BillingViewSet.as_view({"post": "create_portal_session"})),
    path("billing/webhooks/processor", ProcessorWebhookViewSet.as_view({"post": "create"})),
    path(PAGE, usage.show_usage, name="usage"),
    path(f"{PAGE}/caps", usage.change_caps, name="usage-caps"),
    path(f"{PAGE}/checkout", usage.redirect_to_checkout, name="usage-checkout"),
    path(f"{PAGE}/portal", usage.redirect_to_portal, name="usage-portal"),
    path(f"{PAGE}/charges", usage.download_month_charges, name="usage-charges"),
]
