"""The URL route of the Model Context Protocol endpoint."""

from __future__ import annotations

from django.urls import path

from config.mcp.views import mcp

urlpatterns = [path("mcp", mcp, name="mcp")]
