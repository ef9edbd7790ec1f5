"""TikTok: connection by Login Kit's OAuth, videos by upload, photos by their addresses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.platforms import oauth
from accounts.platforms.base import Platform
from accounts.platforms.errors import AccountDisconnected, ContentRejected, CredentialsRejected, TokenExpired
from accounts.platforms.tiktok import creator, posts, publishing
from accounts.platforms.tiktok.capabilities import CAPABILITIES
from accounts.platforms.tiktok.client import Api, platform_errors
from accounts.platforms.tiktok.setup import SETUP
from accounts.platforms.tiktok.tokens import Application
from accounts.platforms.types import Absent, Authorization, Connection, Content, Grant, Identity, Progress, Published


class TikTok(Platform):
    """TikTok creators.

    Publishing goes `start` (what the creator may post is asked, and a video is announced), then for a video `upload`
    (some chunks a step, for all but the last) and `finish` (the last chunk), for photos `create`, and `poll` until TikTok
    has an end. Its state is {username, announced}: the creator's name, and how often the post was announced; for a video
    also {publish_id, address, chunks}: its id, where its bytes go, sealed, and how many chunks went there; for photos
    {comment_disabled}. Once TikTok has the post it is {taken, username, announced, publish_id, looks}, and {out} when it
    is published and its id is not told yet.
    A grant's tokens are {access_token, refresh_token}; its external_id is the creator's open id.
    """

    name = "tiktok"
    label = "TikTok"
    capabilities = CAPABILITIES
    setup = SETUP
    irreversible = frozenset({"finish", "create"})

    def unavailable_reason(self, method: str) -> str | None:
        """What the operator has not set; None when creators can be connected."""
        missing = [f"TIKTOK_{key}" for key in ("CLIENT_ID", "CLIENT_SECRET") if not self.setting(key)]
        return f"The operator of this service has not set {' and '.join(missing)}." if missing else None

    def authorize(self, *, state: str, redirect_uri: str, given: Mapping[str, Any]) -> Authorization:
        """TikTok's page of consent."""
        return self._application().authorize(state, redirect_uri)

    def exchange(self, *, code: str, redirect_uri: str, stored: Mapping[str, Any]) -> tuple[Connection, ...]:
        """The one creator that the grant opens. Raises CredentialsRejected, ConnectionUnavailable, Transient."""
        answer = self._application().exchange(code, redirect_uri, stored["verifier"])
        try:
            with platform_errors():
                identity = creator.identity(Api(self._api(), str(answer["access_token"])))
        except (TokenExpired, AccountDisconnected, ContentRejected) as error:
            raise CredentialsRejected(error.message) from error
        grant = Grant({}, oauth.kept_tokens({}, answer), identity.external_id, oauth.expiry_of(answer))
        return (Connection(identity, grant, oauth.scopes_of(answer)),)

    def identify(self, grant: Grant) -> Identity:
        """Ask TikTok whose token it is. Raises TokenExpired, AccountDisconnected, ConnectionUnavailable, Transient."""
        with platform_errors():
            identity = creator.identity(self._opened(grant))
        if identity.external_id != grant.external_id:
            raise AccountDisconnected("The token opens another account than the one that was connected.")
        return identity

    def refresh(self, grant: Grant) -> Grant:
        """New tokens for the refresh token, which may be good for this one use. Raises AccountDisconnected, Transient."""
        answer = self._application().renew(grant.tokens["refresh_token"])
        tokens = oauth.kept_tokens(grant.tokens, answer)
        return Grant(grant.credentials, tokens, grant.external_id, oauth.expiry_of(answer))

    def revoke(self, grant: Grant) -> None:
        """End the access. Raises Transient."""
        self._application().revoke(grant.tokens["access_token"])

    def publish(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Take the step that `progress` names."""
        if progress.phase == "start":
            posts.check_addresses(content, self.setting("VERIFIED_PREFIX"))
        return publishing.STEPS[progress.phase](self._opened(grant), content, progress.state)

    def find(self, grant: Grant, content: Content, progress: Progress) -> Progress | Absent:
        """Ask by the publish id whether TikTok has the whole video."""
        return publishing.find(self._opened(grant), content, progress.state)

    def _opened(self, grant: Grant) -> Api:
        return Api(self._api(), grant.tokens["access_token"])

    def _application(self) -> Application:
        return Application(
            self.setting("CLIENT_ID"),
            self.setting("CLIENT_SECRET"),
            self._api(),
            self.setting("AUTH_BASE", "https://www.tiktok.com").rstrip("/"),
            self.setting("PKCE"),
        )

    def _api(self) -> str:
        return self.setting("API_BASE", "https://open.tiktokapis.com").rstrip("/")
