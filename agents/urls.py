"""Routes of agents and API keys."""

from __future__ import annotations

from django.urls import path

from agents.views import AgentViewSet, ApiKeyViewSet

urlpatterns = [
    path("agents", AgentViewSet.as_view({"post": "create"})),
    path("agents/claim", AgentViewSet.as_view({"post": "claim"})),
    path("agents/<str:agent_id>", AgentViewSet.as_view({"get": "retrieve"})),
    path("auth/api-keys", ApiKeyViewSet.as_view({"post": "create"})),
    path("auth/api-keys/<str:api_key_id>", ApiKeyViewSet.as_view({"delete": "destroy"})),
]
