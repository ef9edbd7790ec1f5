"""The URLs of webhook deliveries and signing secrets, in the API and in the dashboard."""

from __future__ import annotations

from django.urls import path

from webhooks import dashboard
from webhooks.views import DeliveryViewSet, WorkspaceSigningSecretViewSet

WEBHOOKS_PATH = "dashboard/workspaces/<str:workspace_id>/webhooks"

urlpatterns = [
    path("workspaces/<str:workspace_id>/webhook-signing-secret", WorkspaceSigningSecretViewSet.as_view({"get": "retrieve"})),
    path(
        "workspaces/<str:workspace_id>/webhook-signing-secret/rotate",
        WorkspaceSigningSecretViewSet.as_view({"post": "rotate"}),
    ),
    path("webhooks/deliveries", DeliveryViewSet.as_view({"get": "list"})),
    path("webhooks/deliveries/<str:delivery_id>/replay", DeliveryViewSet.as_view({"post": "replay"})),
    path(WEBHOOKS_PATH, dashboard.list_deliveries, name="webhooks"),
    path(f"{WEBHOOKS_PATH}/secret", dashboard.show_signing_secret, name="webhook-secret"),
    path(f"{WEBHOOKS_PATH}/secret/rotate", dashboard.rotate_workspace_signing_secret, name="webhook-secret-rotate"),
    path(f"{WEBHOOKS_PATH}/<str:delivery_id>", dashboard.show_delivery, name="delivery"),
    path(f"{WEBHOOKS_PATH}/<str:delivery_id>/replay", dashboard.replay_delivery, name="delivery-replay"),
]
