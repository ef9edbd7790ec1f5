"""X: connection by OAuth 2.0 with PKCE, posts that can be looked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.platforms import oauth
from accounts.platforms.base import Platform
from accounts.platforms.errors import AccountDisconnected, CredentialsRejected, TokenExpired
from accounts.platforms.types import Absent, Authorization, Connection, Content, Grant, Identity, Progress, Published
from accounts.platforms.x import account, media, posts
from accounts.platforms.x.account import Account
from accounts.platforms.x.capabilities import CAPABILITIES
from accounts.platforms.x.client import Api, platform_errors
from accounts.platforms.x.setup import SETUP
from accounts.platforms.x.tokens import Application


class X(Platform):
    """X accounts.

    Publishing goes `start`, then for each file `upload` (for GIFs and videos also `append`, `finalize` and `process`),
    `describe` for each alt text, and `create` for each segment of a thread. Its state is {since, media, described,
    sent}: when the publication began, the ids of the uploads, how many of them are described, and the ids of the
    segments that are out; {pending, segment, looks} while a file is sent in segments, and `again` once X had lost media.
    A grant's tokens are {access_token, refresh_token, username}; its external_id is the account's id.
    """

    name = "x"
    label = "X"
    capabilities = CAPABILITIES
    setup = SETUP
    irreversible = frozenset({"create"})
    # Longer than a request lives: what X has taken shows in the account's list of posts a while later.
    settles_seconds = 180.0

    def unavailable_reason(self, method: str) -> str | None:
        """What the operator has not set; None when accounts can be connected."""
        missing = [f"X_{key}" for key in ("CLIENT_ID", "CLIENT_SECRET") if not self.setting(key)]
        return f"The operator of this service has not set {' and '.join(missing)}." if missing else None

    def authorize(self, *, state: str, redirect_uri: str, given: Mapping[str, Any]) -> Authorization:
        """X's page of consent."""
        return self._application().authorize(state, redirect_uri)

    def exchange(self, *, code: str, redirect_uri: str, kept: Mapping[str, Any]) -> tuple[Connection, ...]:
        """The one account that the grant opens. Raises CredentialsRejected, ConnectionUnavailable, Transient."""
        answer = self._application().exchange(code, redirect_uri, kept["verifier"])
        try:
            with platform_errors():
                identity = account.identity(Api(self._api(), str(answer["access_token"])))
        except (TokenExpired, AccountDisconnected) as error:
            raise CredentialsRejected(error.message) from error
        tokens = oauth.kept_tokens({"username": identity.handle}, answer)
        grant = Grant({}, tokens, identity.external_id, oauth.expiry_of(answer))
        return (Connection(identity, grant, oauth.scopes_of(answer)),)

    def identify(self, grant: Grant) -> Identity:
        """Ask X whose token it is. Raises TokenExpired, AccountDisconnected, ConnectionUnavailable, Transient."""
        with platform_errors():
            identity = account.identity(self._account(grant).api)
        if identity.external_id != grant.external_id:
            raise AccountDisconnected("The token opens another account than the one that was connected.")
        return identity

    def refresh(self, grant: Grant) -> Grant:
        """A new pair for the refresh token, which is good for one use. Raises AccountDisconnected, Transient."""
        answer = self._application().renew(grant.tokens["refresh_token"])
        tokens = oauth.kept_tokens(grant.tokens, answer)
        return Grant(grant.credentials, tokens, grant.external_id, oauth.expiry_of(answer))

    def revoke(self, grant: Grant) -> None:
        """End both tokens, first the one that makes others. Raises Transient."""
        for name in ("refresh_token", "access_token"):
            self._application().revoke(grant.tokens[name])

    def publish(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Take the step that `progress` names."""
        if progress.phase == "start":
            return posts.begin(content)
        if progress.phase == "create":
            return posts.create(self._account(grant), content, progress.state)
        return media.STEPS[progress.phase](self._account(grant).api, content.media, progress.state)

    def find(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published | Absent:
        """Look among the account's posts since the publication began, or since the segment before."""
        return posts.find(self._account(grant), content, progress.state)

    def _account(self, grant: Grant) -> Account:
        return Account.of(grant, self._api())

    def _application(self) -> Application:
        site = self.setting("AUTH_BASE", account.SITE).rstrip("/")
        return Application(self.setting("CLIENT_ID"), self.setting("CLIENT_SECRET"), self._api(), site)

    def _api(self) -> str:
        return self.setting("API_BASE", "https://api.x.com").rstrip("/")
