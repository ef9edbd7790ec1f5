"""A Mastodon instance (server): its address as owners write it, the limits that it announces, and its OAuth scopes.

Source: docs.joinmastodon.org, methods/instance, methods/oauth and api/oauth-scopes; RFC 8414; nodeinfo.diaspora.software.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.errors import CredentialsRejected
from accounts.platforms.http.responses import object_or_empty, objects_in, required_json_object
from accounts.platforms.mastodon.capabilities import SCOPES, WIDE_SCOPES
from accounts.platforms.mastodon.client import MastodonError, ServerClient
from config.outbound import DestinationNotAllowed, OutboundError, check_url_without_lookup

TIMEOUT_SECONDS = 5.0

_WRITTEN = re.compile(r"(?:(?P<scheme>[a-z]+)://)?(?P<place>[^/@?#\s]+)(?:/[^?#\s]*)?", re.IGNORECASE)
_LOOPBACK = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?", re.IGNORECASE)
_DEFAULT_PORTS = {"https": 443, "http": 80}

NODEINFO_SCHEMA = "http://nodeinfo.diaspora.software/ns/schema/"
# Software that supports SCOPES, and the first version that does: Mastodon since 2.4.3; Pleroma, of which Akkoma is a fork,
# since 2.0 at the latest. GoToSocial before 0.19 ignored scopes.
SCOPES_SINCE = {"mastodon": (2, 5), "gotosocial": (0, 19), "pleroma": (2, 0), "akkoma": (0, 0)}

_VERSION = re.compile(r"v?(\d{1,5})\.(\d{1,5})")
_NODEINFO = re.compile(r"https?://[^/?#\s]+(?P<path>/[A-Za-z0-9._/-]{1,200})")

# The sections and fields of an instance's `configuration`, by the parameters of capabilities.capabilities_with_limits.
_LIMITS = {
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


def instance_url_from_owner_input(written: str) -> str:
    """Return the URL of a Mastodon instance, given by its host name or by the URL of any page. Raises CredentialsRejected.

    A host without a scheme means https, except loopback, which has no certificates.
    """
    parts = _WRITTEN.fullmatch(written.strip())
    if parts is None:
        raise CredentialsRejected(
            gettext_noop("The instance is no host name such as mastodon.social, nor the https address of one.")
        )
    scheme = (parts["scheme"] or ("http" if _LOOPBACK.fullmatch(parts["place"]) else "https")).lower()
    try:
        destination = check_url_without_lookup(f"{scheme}://{parts['place']}")
    except DestinationNotAllowed as error:
        raise CredentialsRejected(f"The service does not connect to this instance: {error.reason}") from error
    host = f"[{destination.host}]" if ":" in destination.host else destination.host
    port = "" if destination.port == _DEFAULT_PORTS[scheme] else f":{destination.port}"
    return f"{scheme}://{host}{port}"


def fetch_limits(server: ServerClient) -> dict[str, int]:
    """Return the limits that a Mastodon instance announces, such as the length of texts; empty if it announces none.

    Servers before 4.0 announce them at the older address, and some other software only that of the text.
    """
    for path in ("/api/v2/instance", "/api/v1/instance"):
        if found := _limits_in(_document(server, path)):
            return found
    return {}


def fetch_scopes_to_request(server: ServerClient) -> tuple[str, ...]:
    """Return the OAuth scopes that the software of a Mastodon instance supports: the narrow ones, or else the wide ones.

    Mastodon since 4.3 lists its scopes in the metadata of the authorization server. For other servers their software
    decides. WIDE_SCOPES are the safe choice, which all servers with this API support: Pixelfed does not grant narrower ones,
    and Takahe grants them but then refuses the token.
    """
    supported = _document(server, "/.well-known/oauth-authorization-server").get("scopes_supported")
    if isinstance(supported, list):
        has_narrow_scopes = all(scope in supported for scope in SCOPES)
    else:
        has_narrow_scopes = _software_supports_scopes(server)
    return SCOPES if has_narrow_scopes else WIDE_SCOPES


def _software_supports_scopes(server: ServerClient) -> bool:
    """Return whether a Mastodon instance's software version (from its nodeinfo) supports the narrow OAuth scopes.

    Only the path of the nodeinfo's address is used, so that no other server is called.
    """
    for link in objects_in(_document(server, "/.well-known/nodeinfo").get("links")):
        found = _NODEINFO.fullmatch(str(link.get("href")))
        if found and str(link.get("rel")).startswith(NODEINFO_SCHEMA):
            software = object_or_empty(_document(server, found["path"]).get("software"))
            since = SCOPES_SINCE.get(str(software.get("name")))
            version = _VERSION.match(str(software.get("version")))
            return bool(since and version and (int(version[1]), int(version[2])) >= since)
    return False


def _document(server: ServerClient, path: str) -> Mapping[str, Any]:
    """Return a JSON document of a Mastodon instance, such as its nodeinfo; empty if it has no such document."""
    try:
        return required_json_object(server.send_to_url("GET", f"{server.address}{path}", timeout=TIMEOUT_SECONDS))
    except (OutboundError, MastodonError):
        return {}


def _limits_in(document: Mapping[str, Any]) -> dict[str, int]:
    configuration = object_or_empty(document.get("configuration"))
    values = {name: object_or_empty(configuration.get(section)).get(key) for name, (section, key) in _LIMITS.items()}
    if values["characters"] is None:
        values["characters"] = document.get("max_toot_chars")
    return {name: value for name, value in values.items() if type(value) is int and 0 < value < 2**53}
