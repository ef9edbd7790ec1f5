"""A server of its own: its address as the owner writes it, what it takes, and which scopes it knows.

Source: docs.joinmastodon.org, methods/instance, methods/oauth and api/oauth-scopes; RFC 8414; nodeinfo.diaspora.software.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from accounts.platforms.errors import CredentialsRejected
from accounts.platforms.mastodon.capabilities import SCOPES, WIDE_SCOPES
from accounts.platforms.mastodon.client import MastodonError, Server
from config.outbound import DestinationNotAllowed, OutboundError, check_url

TIMEOUT_SECONDS = 5.0

_WRITTEN = re.compile(r"(?:(?P<scheme>[a-z]+)://)?(?P<place>[^/@?#\s]+)(?:/[^?#\s]*)?", re.IGNORECASE)
_LOOPBACK = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?", re.IGNORECASE)
_DEFAULT_PORTS = {"https": 443, "http": 80}

NODEINFO_SCHEMA = "http://nodeinfo.diaspora.software/ns/schema/"
# Software that knows SCOPES, and since which version: Mastodon since 2.4.3; Pleroma, from which Akkoma comes, at the latest
# since 2.0. To GoToSocial before 0.19 any token opened everything.
KNOW_SCOPES_SINCE = {"mastodon": (2, 5), "gotosocial": (0, 19), "pleroma": (2, 0), "akkoma": (0, 0)}

_VERSION = re.compile(r"v?(\d{1,5})\.(\d{1,5})")
_NODEINFO = re.compile(r"https?://[^/?#\s]+(?P<path>/[A-Za-z0-9._/-]{1,200})")

# Where an instance's `configuration` tells what we keep of it, by the names of capabilities.of_instance.
_TOLD = {
    "characters": ("statuses", "max_characters"),
    "media": ("statuses", "max_media_attachments"),
    "image_bytes": ("media_attachments", "image_size_limit"),
    "video_bytes": ("media_attachments", "video_size_limit"),
    "alt_text": ("media_attachments", "description_limit"),
    "poll_choices": ("polls", "max_options"),
    "poll_choice_length": ("polls", "max_characters_per_option"),
    "poll_min_seconds": ("polls", "min_expiration"),
    "poll_max_seconds": ("polls", "max_expiration"),
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
        if found := _limits_in(_document(server, path)):
            return found
    return {}


def scopes(server: Server) -> tuple[str, ...]:
    """The scopes to ask an owner for: SCOPES where the server knows them, else WIDE_SCOPES. Raises nothing.

    The metadata of the authorization server lists them (Mastodon since 4.3). A server without that document is judged by its
    software. WIDE_SCOPES is the answer for any other software, and where neither document can be read: all servers with this
    API know them, while asking for narrower ones may fail. Pixelfed refuses to grant them; Takahe grants them, and then
    refuses the token.
    """
    supported = _document(server, "/.well-known/oauth-authorization-server").get("scopes_supported")
    if isinstance(supported, list):
        known = all(scope in supported for scope in SCOPES)
    else:
        known = _runs_on_software_that_knows_scopes(server)
    return SCOPES if known else WIDE_SCOPES


def _runs_on_software_that_knows_scopes(server: Server) -> bool:
    """Whether the server's nodeinfo names software and a version that know SCOPES.

    Of the address that it gives for its nodeinfo only the path counts, so that no other server is asked.
    """
    links = _document(server, "/.well-known/nodeinfo").get("links")
    for link in links if isinstance(links, list) else ():
        told = link if isinstance(link, dict) else {}
        found = _NODEINFO.fullmatch(str(told.get("href")))
        if found and str(told.get("rel")).startswith(NODEINFO_SCHEMA):
            software = _section(_document(server, found["path"]), "software")
            since = KNOW_SCOPES_SINCE.get(str(software.get("name")))
            version = _VERSION.match(str(software.get("version")))
            return bool(since and version and (int(version[1]), int(version[2])) >= since)
    return False


def _document(server: Server, path: str) -> Mapping[str, Any]:
    """A JSON document of the server's; empty where it has none."""
    try:
        return server.get(path, timeout=TIMEOUT_SECONDS).one()
    except (OutboundError, MastodonError):
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
