"""Routes of signing secrets and deliveries."""

from __future__ import annotations

from django.urls import path

from webhooks.views import DeliveryViewSet, SigningSecretViewSet

urlpatterns = [
    path("workspaces/<str:workspace_id>/webhook-signing-secret", SigningSecretViewSet.as_view({"get": "retrieve"})),
    path(
        "workspaces/<str:workspace_id>/webhook-signing-secret/rotate",
        SigningSecretViewSet.as_view({"post": "rotate"}),
    ),
    path("webhooks/deliveries", DeliveryViewSet.as_view({"get": "list"})),
    path("webhooks/deliveries/<str:delivery_id>/replay", DeliveryViewSet.as_view({"post": "replay"})),
]
