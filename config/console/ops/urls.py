"""Routes of the operators' API."""

from __future__ import annotations

from django.urls import path

from config.console.ops.views import (
    BillingViewSet,
    DeliveriesViewSet,
    KeysViewSet,
    RetentionViewSet,
    StatusViewSet,
    WorkspacesViewSet,
)

urlpatterns = [
    path("ops/status", StatusViewSet.as_view({"get": "retrieve"})),
    path("ops/workspaces", WorkspacesViewSet.as_view({"get": "list"})),
    path("ops/workspaces/<str:workspace_id>/pause", WorkspacesViewSet.as_view({"post": "pause"})),
    path("ops/workspaces/<str:workspace_id>/resume", WorkspacesViewSet.as_view({"post": "resume"})),
    path("ops/deliveries", DeliveriesViewSet.as_view({"get": "list"})),
    path("ops/deliveries/replay", DeliveriesViewSet.as_view({"post": "replay"})),
    path("ops/retention/run", RetentionViewSet.as_view({"post": "run"})),
    path("ops/billing/reconcile", BillingViewSet.as_view({"post": "reconcile"})),
    path("ops/keys/revoke", KeysViewSet.as_view({"post": "revoke"})),
]
