"""The API URL of a workspace's audit log."""

from __future__ import annotations

from django.urls import path

from auditlog.views import LogViewSet

urlpatterns = [path("logs", LogViewSet.as_view({"get": "list"}))]
