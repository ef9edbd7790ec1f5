"""The URLs of the API of agents and API keys, of the dashboard's API key pages, and of the OAuth server for programs."""

from __future__ import annotations

from django.urls import path

from agents.dashboard import keys
from agents.oauth import views as oauth
from agents.views import AgentViewSet, ApiKeyViewSet

API_KEYS_PATH = "dashboard/workspaces/<str:workspace_id>/api-keys"

urlpatterns = [
    path("agents", AgentViewSet.as_view({"get": "list", "post": "create"})),
    path("agents/claim", AgentViewSet.as_view({"post": "claim"})),
    path("agents/<str:agent_id>", AgentViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"})),
    path("agents/<str:agent_id>/rotate-key", AgentViewSet.as_view({"post": "rotate_key"})),
    path("agents/<str:agent_id>/logs", AgentViewSet.as_view({"get": "logs"})),
    path("auth/api-keys", ApiKeyViewSet.as_view({"get": "list", "post": "create"})),
    path("auth/api-keys/<str:api_key_id>", ApiKeyViewSet.as_view({"delete": "destroy"})),
    path(".well-known/oauth-authorization-server", oauth.serve_authorization_server_metadata),
    path(".well-known/oauth-protected-resource", oauth.serve_api_resource_metadata),
    path(".well-known/oauth-protected-resource/mcp", oauth.serve_mcp_resource_metadata),
    path("oauth/token", oauth.token_endpoint),
    path("oauth/revoke", oauth.revocation_endpoint),
    path("oauth/register", oauth.registration_endpoint),
    path(API_KEYS_PATH, keys.api_key_list, name="api-keys"),
    path(f"{API_KEYS_PATH}/new", keys.create_api_key, name="api-key-new"),
    path(f"{API_KEYS_PATH}/<str:api_key_id>/revoke", keys.revoke_api_key, name="api-key-revoke"),
]
