"""The metadata documents of the OAuth server (RFC 8414) and of the resources that it protects (RFC 9728)."""

from __future__ import annotations

from typing import Any

from agents.oauth.addresses import OAUTH_SCOPES, issuer, resource_url_of_path
from agents.oauth.client_metadata import GRANT_TYPES, NO_CLIENT_AUTHENTICATION


def build_authorization_server_metadata() -> dict[str, Any]:
    """Return the metadata document of the OAuth server: its endpoints, and what they support."""
    return {
        "issuer": issuer(),
        "authorization_endpoint": f"{issuer()}/oauth/authorize",
        "token_endpoint": f"{issuer()}/oauth/token",
        "revocation_endpoint": f"{issuer()}/oauth/revoke",
        "registration_endpoint": f"{issuer()}/oauth/register",
        "device_authorization_endpoint": f"{issuer()}/oauth/device",
        "service_documentation": f"{issuer()}/docs",
        "scopes_supported": OAUTH_SCOPES,
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": GRANT_TYPES,
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": [NO_CLIENT_AUTHENTICATION],
        "revocation_endpoint_auth_methods_supported": [NO_CLIENT_AUTHENTICATION],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": True,
    }


def build_protected_resource_metadata(path: str) -> dict[str, Any]:
    """Return the metadata document of the API (path "") or of the Model Context Protocol endpoint (MCP_PATH)."""
    return {
        "resource": resource_url_of_path(path),
        "resource_name": "Social publishing",
        "resource_documentation": f"{issuer()}/docs",
        "authorization_servers": [issuer()],
        "scopes_supported": OAUTH_SCOPES,
        "bearer_methods_supported": ["header"],
    }
