"""The addresses of the OAuth server: its issuer, and the resources for which it issues tokens. Also its scopes."""

from __future__ import annotations

from django.conf import settings

MCP_PATH = "/mcp"
RESOURCE_METADATA_PATH = "/.well-known/oauth-protected-resource"
# What an agent that a person connects by OAuth may be allowed to do. Nothing that administers.
OAUTH_SCOPES = (
    "posts.read",
    "posts.draft",
    "posts.schedule",
    "posts.publish",
    "media.upload",
    "accounts.read",
    "usage.read",
)


def issuer() -> str:
    """Return the issuer identifier of this OAuth server (RFC 8414), which is also the resource of the API."""
    return str(settings.BASE_URL)


def resource_url_of_path(path: str) -> str:
    """Return the address that identifies a resource (RFC 8707): the API (path "") or the MCP endpoint (MCP_PATH)."""
    return f"{settings.BASE_URL}{path}"


def www_authenticate_header(path: str, **parameters: str) -> str:
    """Return the WWW-Authenticate header with the address of the metadata of the resource at this path (RFC 9728)."""
    parameters = {
        "resource_metadata": f"{settings.BASE_URL}{RESOURCE_METADATA_PATH}{path}",
        "scope": " ".join(OAUTH_SCOPES),
        **parameters,
    }
    return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in parameters.items())
