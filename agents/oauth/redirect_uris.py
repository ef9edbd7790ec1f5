"""The rules for redirect URIs of OAuth clients: https, or http on loopback with any port (RFC 8252)."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_LENGTH = 2048
LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})
# One strict pattern, so that this code and browsers cannot read a URI differently: no credentials, backslash or fragment.
_REDIRECT_URI = re.compile(
    r"(?P<scheme>https?)://(?P<host>[0-9A-Za-z.-]*[0-9A-Za-z]|\[::1\])(?P<port>:[1-9][0-9]{0,4})?(?P<rest>[/?][!-\"$-\[\]-~]*)?"
)


@dataclass(frozen=True)
class RedirectUri:
    """A valid redirect URI: scheme, host in lower case, port as `:8080` or "", and the rest of the URI."""

    scheme: str
    host: str
    port: str
    rest: str

    @property
    def is_loopback(self) -> bool:
        """Return whether this RedirectUri of an OAuth client leads to a program on the person's own computer."""
        return self.host in LOOPBACK_HOSTS

    @property
    def without_loopback_port(self) -> tuple[str, ...]:
        return (self.scheme, self.host, "" if self.is_loopback and self.scheme == "http" else self.port, self.rest)


def parse_redirect_uri_or_none(uri: str) -> RedirectUri | None:
    """Return the parts of a redirect URI that clients may use; None if it is not allowed."""
    match = _REDIRECT_URI.fullmatch(uri) if len(uri) <= MAX_LENGTH else None
    if match is None:
        return None
    found = RedirectUri(match["scheme"], match["host"].lower(), match["port"] or "", match["rest"] or "")
    return found if found.scheme == "https" or found.is_loopback else None


def is_registered_redirect_uri(uri: str, registered: list[str]) -> bool:
    """Return whether a redirect URI equals one of a client's registered URIs; on loopback, the port may differ."""
    asked = parse_redirect_uri_or_none(uri)
    if asked is None:
        return False
    if uri in registered:
        return True
    known = [parse_redirect_uri_or_none(each) for each in registered] if asked.is_loopback else []
    return any(each and each.without_loopback_port == asked.without_loopback_port for each in known)
