"""Routes of workspaces and users."""

from __future__ import annotations

from django.urls import path

from workspaces.views import UserViewSet, WorkspaceViewSet

urlpatterns = [
    path("workspaces", WorkspaceViewSet.as_view({"get": "list", "post": "create"})),
    path("workspaces/<str:workspace_id>", WorkspaceViewSet.as_view({"patch": "partial_update", "delete": "destroy"})),
    path("workspaces/<str:workspace_id>/export", WorkspaceViewSet.as_view({"get": "export"})),
    path("users/<str:user_id>", UserViewSet.as_view({"delete": "destroy"})),
    path("users/<str:user_id>/export", UserViewSet.as_view({"get": "export"})),
]
