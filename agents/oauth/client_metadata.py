"""Reads the metadata of OAuth clients, from registrations (RFC 7591) and client ID metadata documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agents.oauth.errors import InvalidClientMetadata, InvalidRegisteredRedirectUri
from agents.oauth.redirect_uris import parse_redirect_uri_or_none

AUTHORIZATION_CODE, REFRESH_TOKEN = "authorization_code", "refresh_token"
DEVICE_CODE_GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code"
GRANT_TYPES = (AUTHORIZATION_CODE, REFRESH_TOKEN, DEVICE_CODE_GRANT_TYPE)
NO_CLIENT_AUTHENTICATION = "none"
MAX_NAME_LENGTH = 200
MAX_REDIRECT_URIS = 20


@dataclass(frozen=True)
class ClientMetadata:
    """What an OAuth client says about itself, as far as this service supports it."""

    name: str
    redirect_uris: list[str]
    grant_types: list[str]


def parse_client_metadata(document: Any) -> ClientMetadata:
    """Return the supported part of an OAuth client's metadata. Raises InvalidClientMetadata, InvalidRegisteredRedirectUri.

    Unknown members are ignored, and grant types that this service does not have are left out.
    """
    if not isinstance(document, dict):
        raise InvalidClientMetadata("The metadata must be a JSON object.")
    grant_types = _texts(document, "grant_types", [AUTHORIZATION_CODE])
    supported = [name for name in GRANT_TYPES if name in grant_types or name == REFRESH_TOKEN]
    if supported == [REFRESH_TOKEN]:
        raise InvalidClientMetadata(f"grant_types must contain {AUTHORIZATION_CODE} or {DEVICE_CODE_GRANT_TYPE}.")
    redirect_uris = _texts(document, "redirect_uris", [])
    if AUTHORIZATION_CODE in supported:
        if "code" not in _texts(document, "response_types", ["code"]):
            raise InvalidClientMetadata("response_types must contain code.")
        if not redirect_uris:
            raise InvalidRegisteredRedirectUri()
    if len(redirect_uris) > MAX_REDIRECT_URIS or not all(map(parse_redirect_uri_or_none, redirect_uris)):
        raise InvalidRegisteredRedirectUri()
    return ClientMetadata(_name(document), redirect_uris, supported)


def _name(document: dict[str, Any]) -> str:
    """Return an OAuth client's name from its metadata without invisible characters, which could disguise it; else ""."""
    name = document.get("client_name", "")
    if not isinstance(name, str):
        raise InvalidClientMetadata("client_name must be a text.")
    return "".join(filter(str.isprintable, name)).strip()[:MAX_NAME_LENGTH]


def _texts(document: dict[str, Any], name: str, default: list[str]) -> list[str]:
    value = document.get(name, default)
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise InvalidClientMetadata(f"{name} must be a list of texts.")
    return value
