"""Routes of workspaces."""

from __future__ import annotations

from django.urls import path

from workspaces.views import WorkspaceViewSet

urlpatterns = [
    path("workspaces", WorkspaceViewSet.as_view({"get": "list", "post": "create"})),
]
