"""URLs of signing secrets and deliveries, in the API and the dashboard."""

from __future__ import annotations

from django.urls import path

from webhooks import dashboard
from webhooks.views import DeliveryViewSet, SigningSecretViewSet

PAGES = "dashboard/workspaces/<str:workspace_id>/webhooks"

urlpatterns = [
    path("workspaces/<str:workspace_id>/webhook-signing-secret", SigningSecretViewSet.as_view({"get": "retrieve"})),
    path(
        "workspaces/<str:workspace_id>/webhook-signing-secret/rotate",
        SigningSecretViewSet.as_view({"post": "rotate"}),
    ),
    path("webhooks/deliveries", DeliveryViewSet.as_view({"get": "list"})),
    path("webhooks/deliveries/<str:delivery_id>/replay", DeliveryViewSet.as_view({"post": "replay"})),
    path(PAGES, dashboard.deliveries, name="webhooks"),
    path(f"{PAGES}/secret", dashboard.secret, name="webhook-secret"),
    path(f"{PAGES}/secret/rotate", dashboard.rotate_secret, name="webhook-secret-rotate"),
    path(f"{PAGES}/<str:delivery_id>", dashboard.delivery, name="delivery"),
    path(f"{PAGES}/<str:delivery_id>/replay", dashboard.replay, name="delivery-replay"),
]
