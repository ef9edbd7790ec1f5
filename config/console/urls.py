"""URL routes of the health checks, of /metrics and of the operators' API at /ops."""

from __future__ import annotations

from django.urls import path

from config.console import health, metrics
from config.console.ops import views

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", metrics.metrics),
    path("ops/status", views.StatusViewSet.as_view({"get": "retrieve"})),
    path("ops/workspaces", views.WorkspacesViewSet.as_view({"get": "list"})),
    path("ops/workspaces/<str:workspace_id>/pause", views.WorkspacesViewSet.as_view({"post": "pause"})),
    path("ops/workspaces/<str:workspace_id>/resume", views.WorkspacesViewSet.as_view({"post": "resume"})),
    path("ops/deliveries", views.DeliveriesViewSet.as_view({"get": "list"})),
    path("ops/deliveries/replay", views.DeliveriesViewSet.as_view({"post": "replay"})),
    path("ops/retention/run", views.RetentionRunViewSet.as_view({"post": "run"})),
    path("ops/billing/reconcile", views.BillingViewSet.as_view({"post": "reconcile_with_processor"})),
    path("ops/keys/revoke", views.ApiKeysViewSet.as_view({"post": "revoke"})),
]
