"""Pinterest: connection by OAuth 2.0, pins on the account's boards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.platforms import oauth
from accounts.platforms.base import Platform
from accounts.platforms.errors import AccountDisconnected, ContentRejected, CredentialsRejected, TokenExpired
from accounts.platforms.pinterest import account, pins, video
from accounts.platforms.pinterest.api import Api, platform_errors
from accounts.platforms.pinterest.capabilities import CAPABILITIES
from accounts.platforms.pinterest.setup import SETUP
from accounts.platforms.pinterest.tokens import Application
from accounts.platforms.types import Authorization, Connection, Content, Grant, Identity, Progress, Published

API_BASE = "https://api.pinterest.com/v5"


class Pinterest(Platform):
    """Pinterest accounts.

    One login is one account, and the board is an option of the post: all boards are opened by one refresh token, which is
    replaced at each use, so that accounts which each held a copy of it would end each other's access.
    Publishing goes `start` (which finds the board), for a video `upload` and `process`, then `create`. Its state is {board,
    media_id, looks, again}: the ids of the board and of the video, how often the video was looked at, and whether it was
    sent anew. A grant's tokens are {access_token, refresh_token}; its external_id is the account's id.
    """

    name = "pinterest"
    label = "Pinterest"
    capabilities = CAPABILITIES
    setup = SETUP
    irreversible = frozenset({"create"})

    def unavailable_reason(self, method: str) -> str | None:
        """What the operator has not set; None when accounts can be connected."""
        missing = [f"PINTEREST_{key}" for key in ("CLIENT_ID", "CLIENT_SECRET") if not self.setting(key)]
        return f"The operator of this service has not set {' and '.join(missing)}." if missing else None

    def authorize(self, *, state: str, redirect_uri: str, given: Mapping[str, Any]) -> Authorization:
        """Pinterest's page of consent."""
        return self._application().authorize(state, redirect_uri)

    def exchange(self, *, code: str, redirect_uri: str, kept: Mapping[str, Any]) -> tuple[Connection, ...]:
        """The one account that the grant opens. Raises CredentialsRejected, ConnectionUnavailable, Transient."""
        answer = self._application().exchange(code, redirect_uri)
        try:
            with platform_errors():
                identity = account.identity(Api(self._api(), str(answer["access_token"])))
        except (TokenExpired, AccountDisconnected) as error:
            raise CredentialsRejected(error.message) from error
        grant = Grant({}, oauth.kept_tokens({}, answer), identity.external_id, oauth.expiry_of(answer))
        return (Connection(identity, grant, oauth.scopes_of(answer)),)

    def identify(self, grant: Grant) -> Identity:
        """Ask Pinterest whose token it is. Raises TokenExpired, AccountDisconnected, ConnectionUnavailable, Transient."""
        with platform_errors():
            identity = account.identity(self._opened(grant))
        if identity.external_id != grant.external_id:
            raise AccountDisconnected("The token opens another account than the one that was connected.")
        return identity

    def refresh(self, grant: Grant) -> Grant:
        """A new pair for the refresh token. Raises AccountDisconnected, Transient."""
        answer = self._application().renew(grant.tokens["refresh_token"])
        tokens = oauth.kept_tokens(grant.tokens, answer)
        return Grant(grant.credentials, tokens, grant.external_id, oauth.expiry_of(answer))

    def revoke(self, grant: Grant) -> None:
        """End both tokens, first the one that makes others. Raises Transient."""
        for name in ("refresh_token", "access_token"):
            self._application().revoke(grant.tokens[name])

    def publish(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Take the step that `progress` names."""
        api = self._opened(grant)
        if progress.phase == "start":
            if not content.media:
                raise ContentRejected("A pin shows an image or a video.")
            state = {"board": account.board_id(api, content.options["board"])}
            return Progress("upload" if content.media[0].kind == "video" else "create", state)
        if progress.phase == "upload":
            return video.upload(api, content.media[0], progress.state)
        if progress.phase == "process":
            return video.process(api, progress.state)
        return pins.create(api, content, progress.state)

    def _opened(self, grant: Grant) -> Api:
        return Api(self._api(), grant.tokens["access_token"])

    def _application(self) -> Application:
        site = self.setting("AUTH_BASE", account.SITE).rstrip("/")
        return Application(self.setting("CLIENT_ID"), self.setting("CLIENT_SECRET"), self._api(), site)

    def _api(self) -> str:
        return self.setting("API_BASE", API_BASE).rstrip("/")
