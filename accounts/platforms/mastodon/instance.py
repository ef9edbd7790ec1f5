"""A server of its own: its address as the owner writes it, and what it takes. Source: docs.joinmastodon.org, instance."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from accounts.platforms.errors import CredentialsRejected
from accounts.platforms.mastodon.client import MastodonError, Server
from config.outbound import DestinationNotAllowed, OutboundError, check_url

TIMEOUT_SECONDS = 5.0

_WRITTEN = re.compile(r"(?:(?P<scheme>[a-z]+)://)?(?P<place>[^/@?#\s]+)(?:/[^?#\s]*)?", re.IGNORECASE)
_LOOPBACK = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?", re.IGNORECASE)
_DEFAULT_PORTS = {"https": 443, "http": 80}

# Where an instance's `configuration` tells what we keep of it, by the names of capabilities.of_instance.
_TOLD = {
    "characters": ("statuses", "max_characters"),
    "media": ("statuses", "max_media_attachments"),
    "image_bytes": ("media_attachments", "image_size_limit"),
    "video_bytes": ("media_attachments", "video_size_limit"),
    "alt_text": ("media_attachments", "description_limit"),
}


def address(written: str) -> str:
    """The server's address without a path, from a host name or a URL, which may lead to any of its pages.

    A host without a scheme is meant as https, but loopback, where no certificates are. Raises CredentialsRejected.
    """
    parts = _WRITTEN.fullmatch(written.strip())
    if parts is None:
        raise CredentialsRejected("The instance is no host name such as mastodon.social, nor the https address of one.")
    scheme = (parts["scheme"] or ("http" if _LOOPBACK.fullmatch(parts["place"]) else "https")).lower()
    try:
        destination = check_url(f"{scheme}://{parts['place']}")
    except DestinationNotAllowed as error:
        raise CredentialsRejected(f"The service does not connect to this instance: {error.reason}") from error
    host = f"[{destination.host}]" if ":" in destination.host else destination.host
    port = "" if destination.port == _DEFAULT_PORTS[scheme] else f":{destination.port}"
    return f"{scheme}://{host}{port}"


def host(server: Server) -> str:
    """The server's host, with the port where it is an unusual one: what stands behind the @ of its accounts."""
    return server.address.partition("://")[2]


def limits(server: Server) -> dict[str, int]:
    """What the instance takes, by the names of `_TOLD`; what it does not tell is left out. Raises nothing.

    Servers before 4.0 tell it at the older address, and some others there and only of the text.
    """
    for path in ("/api/v2/instance", "/api/v1/instance"):
        try:
            told = server.get(path, timeout=TIMEOUT_SECONDS).one()
        except (OutboundError, MastodonError):
            continue
        found = _limits_in(told)
        if found:
            return found
    return {}


def _limits_in(told: Mapping[str, Any]) -> dict[str, int]:
    configuration = _section(told, "configuration")
    values = {name: _section(configuration, section).get(key) for name, (section, key) in _TOLD.items()}
    if values["characters"] is None:
        values["characters"] = told.get("max_toot_chars")
    return {name: value for name, value in values.items() if type(value) is int and 0 < value < 2**53}


def _section(told: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = told.get(name)
    return value if isinstance(value, dict) else {}
