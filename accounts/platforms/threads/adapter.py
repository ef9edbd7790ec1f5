"""Threads: connection by Meta's OAuth, posts by containers that tell whether they were published."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from accounts.platforms import oauth
from accounts.platforms.base import Platform
from accounts.platforms.errors import AccountDisconnected, CredentialsRejected, TokenExpired
from accounts.platforms.meta.graph import Graph, versioned
from accounts.platforms.threads import account, containers, posts
from accounts.platforms.threads.account import PRODUCT, Account
from accounts.platforms.threads.authorization import Application
from accounts.platforms.threads.capabilities import CAPABILITIES, SCOPES
from accounts.platforms.threads.setup import SETUP
from accounts.platforms.types import Absent, Authorization, Connection, Content, Grant, Identity, Progress, Published

_VERSION = re.compile(r"/v[0-9.]+$")


class Threads(Platform):
    """Threads profiles.

    Publishing goes `start`, then for each segment `container` (for a carousel first for each file), `wait` until Threads has
    processed it, and `publish`; and `permalink` at the end. Its state is {since, sent}: when the publication began, and the
    ids of the segments that are out; {children, container} of the segment to come, {waiting, looks} while Threads processes
    them, {misses, anew} when it did not know one; and {out} once nothing but the address is missing.
    A grant's tokens are {access_token}; its external_id is the profile's id.
    """

    name = "threads"
    label = "Threads"
    capabilities = CAPABILITIES
    setup = SETUP
    irreversible = frozenset({"publish"})
    # Longer than a request lives: a container that is being published still counts as ready.
    settles_seconds = 120.0

    def unavailable_reason(self, method: str) -> str | None:
        """What the operator has not set; None when accounts can be connected."""
        missing = [f"THREADS_{key}" for key in ("CLIENT_ID", "CLIENT_SECRET") if not self.setting(key)]
        return f"The operator of this service has not set {' and '.join(missing)}." if missing else None

    def authorize(self, *, state: str, redirect_uri: str, given: Mapping[str, Any]) -> Authorization:
        """Threads' page of consent."""
        return self._application().authorize(state, redirect_uri)

    def exchange(self, *, code: str, redirect_uri: str, stored: Mapping[str, Any]) -> tuple[Connection, ...]:
        """The one profile that the grant opens. Raises CredentialsRejected, ConnectionUnavailable, Transient."""
        answer = self._application().exchange(code, redirect_uri)
        tokens = oauth.kept_tokens({}, answer)
        try:
            with PRODUCT.faults():
                identity = account.identity(self._graph(tokens))
        except (TokenExpired, AccountDisconnected) as error:
            raise CredentialsRejected(error.message) from error
        return (Connection(identity, Grant({}, tokens, identity.external_id, oauth.expiry_of(answer))),)

    def identify(self, grant: Grant) -> Identity:
        """Ask Threads whose token it is. Raises TokenExpired, AccountDisconnected, ConnectionUnavailable, Transient."""
        with PRODUCT.faults():
            identity = account.identity(self._graph(grant.tokens))
        if identity.external_id != grant.external_id:
            raise AccountDisconnected("The token opens another profile than the one that was connected.")
        return identity

    def refresh(self, grant: Grant) -> Grant:
        """Another 60 days, while the token is good. Raises AccountDisconnected, Transient."""
        answer = self._application().renew(grant.tokens["access_token"])
        tokens = oauth.kept_tokens(grant.tokens, answer)
        return Grant(grant.credentials, tokens, grant.external_id, oauth.expiry_of(answer))

    def publish(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Take the step that `progress` names."""
        if progress.phase == "start":
            return posts.begin(content)
        profile, state = self._account(grant), progress.state
        if progress.phase == "permalink":
            return posts.permalink(profile, state)
        take = {"container": containers.make, "wait": posts.wait, "publish": posts.publish}[progress.phase]
        return take(profile, content, state)

    def find(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published | Absent:
        """Ask for the container's status; the post's id is looked for among the profile's own."""
        return posts.find(self._account(grant), content, progress.state)

    def _account(self, grant: Grant) -> Account:
        return Account(self._graph(grant.tokens), grant.external_id)

    def _graph(self, tokens: Mapping[str, Any]) -> Graph:
        return Graph(versioned(self._api(), "v1.0"), tokens["access_token"])

    def _application(self) -> Application:
        site = self.setting("AUTH_BASE", "https://threads.com").rstrip("/")
        scopes = tuple(self.setting("SCOPES", SCOPES).replace(",", " ").split())
        tokens_at = _VERSION.sub("", self._api())
        return Application(self.setting("CLIENT_ID"), self.setting("CLIENT_SECRET"), tokens_at, site, scopes)

    def _api(self) -> str:
        return self.setting("API_BASE", "https://graph.threads.net").rstrip("/")
