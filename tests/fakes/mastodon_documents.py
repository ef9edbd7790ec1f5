"""The documents of a Mastodon server that name its software, version and scopes.

Source: docs.joinmastodon.org, methods/oauth (authorization server metadata, since Mastodon 4.3) and api/oauth-scopes;
RFC 8414; nodeinfo.diaspora.software, protocol and schema 2.0.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.fakes.http_server import Answer, ReceivedRequest

METADATA = "GET /.well-known/oauth-authorization-server"
NODEINFO_LINKS, NODEINFO = "GET /.well-known/nodeinfo", "GET /nodeinfo/2.0"

_READ = "accounts blocks bookmarks favourites filters follows lists mutes notifications search statuses"
_WRITE = "accounts blocks bookmarks conversations favourites filters follows lists media mutes notifications reports statuses"
SCOPES = (
    *("profile", "read", "write", "follow", "push"),
    *(f"read:{each}" for each in _READ.split()),
    *(f"write:{each}" for each in _WRITE.split()),
)


class Documents:
    """The documents of a Mastodon server with this software; without `scopes` it has no OAuth metadata."""

    def __init__(self, origin: str, software: str, version: str, *, scopes: tuple[str, ...] = ()) -> None:
        self._origin, self._software, self._version, self._scopes = origin, software, version, scopes
        self.endpoints: dict[str, Callable[[ReceivedRequest], Answer]] = {
            NODEINFO_LINKS: self.nodeinfo_links,
            NODEINFO: self.nodeinfo,
        }
        if scopes:
            self.endpoints[METADATA] = self.metadata

    def metadata(self, request: ReceivedRequest) -> Answer:
        document = {
            "issuer": f"{self._origin}/",
            "authorization_endpoint": f"{self._origin}/oauth/authorize",
            "token_endpoint": f"{self._origin}/oauth/token",
            "revocation_endpoint": f"{self._origin}/oauth/revoke",
            "app_registration_endpoint": f"{self._origin}/api/v1/apps",
            "scopes_supported": list(self._scopes),
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "client_credentials"],
            "code_challenge_methods_supported": ["S256"],
        }
        return Answer.of_json(document)

    def nodeinfo_links(self, request: ReceivedRequest) -> Answer:
        link = {"rel": "http://nodeinfo.diaspora.software/ns/schema/2.0", "href": f"{self._origin}/nodeinfo/2.0"}
        return Answer.of_json({"links": [link]})

    def nodeinfo(self, request: ReceivedRequest) -> Answer:
        document = {
            "version": "2.0",
            "software": {"name": self._software, "version": self._version},
            "protocols": ["activitypub"],
            "services": {"outbound": [], "inbound": []},
            "usage": {"users": {"total": 1}, "localPosts": 0},
            "openRegistrations": False,
            "metadata": {},
        }
        return Answer.of_json(document)
