"""YouTube: connection by Google's OAuth, one video for each post, uploaded so that it can be gone on with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.platforms import oauth
from accounts.platforms.base import Platform
from accounts.platforms.errors import AccountDisconnected, ContentRejected, CredentialsRejected, TokenExpired
from accounts.platforms.types import Absent, Authorization, Connection, Content, Grant, Identity, Progress, Published
from accounts.platforms.youtube import channel, videos
from accounts.platforms.youtube.capabilities import CAPABILITIES
from accounts.platforms.youtube.client import Api, platform_errors
from accounts.platforms.youtube.setup import SETUP
from accounts.platforms.youtube.tokens import Application


class YouTube(Platform):
    """YouTube channels.

    Publishing goes `start` (an upload session is opened), `upload` (some pieces a step, for all but the last), `finish`
    (the last piece: the video is there), `thumbnail` where the post names one, and `process` until YouTube shows it. Its
    state is {session, sessions}: the session's address, sealed, since it lets anybody upload to the channel for a week,
    and how many were opened; once the video is there {taken, video}, with {tries} at its thumbnail, or {looks, note}.
    A grant's tokens are {access_token, refresh_token}; its external_id is the channel's id.
    """

    name = "youtube"
    label = "YouTube"
    capabilities = CAPABILITIES
    setup = SETUP
    irreversible = frozenset({"finish"})
    # A session makes one video only, so that the last piece may be sent again at once where it is missing.
    settles_seconds = 0.0

    def unavailable_reason(self, method: str) -> str | None:
        """What the operator has not set; None when channels can be connected."""
        missing = [f"YOUTUBE_{key}" for key in ("CLIENT_ID", "CLIENT_SECRET") if not self.setting(key)]
        return f"The operator of this service has not set {' and '.join(missing)}." if missing else None

    def authorize(self, *, state: str, redirect_uri: str, given: Mapping[str, Any]) -> Authorization:
        """Google's page of consent, where the owner picks the channel."""
        return self._application().authorize(state, redirect_uri)

    def exchange(self, *, code: str, redirect_uri: str, stored: Mapping[str, Any]) -> tuple[Connection, ...]:
        """The channels that the grant opens. Raises CredentialsRejected, ConnectionUnavailable, Transient."""
        answer = self._application().exchange(code, redirect_uri, stored["verifier"])
        try:
            with platform_errors():
                identities = channel.identities(Api(self._api(), str(answer["access_token"])))
        except (TokenExpired, AccountDisconnected, ContentRejected) as error:
            raise CredentialsRejected(error.message) from error
        if not identities:
            raise CredentialsRejected(
                "The Google account has no YouTube channel.",
                suggested_action="Make a channel at YouTube, or connect with the account that has one.",
            )
        tokens, ends = oauth.kept_tokens({}, answer), oauth.expiry_of(answer)
        scopes = oauth.scopes_of(answer)
        return tuple(Connection(each, Grant({}, tokens, each.external_id, ends), scopes) for each in identities)

    def identify(self, grant: Grant) -> Identity:
        """Ask YouTube which channel it is. Raises TokenExpired, AccountDisconnected, ConnectionUnavailable, Transient."""
        with platform_errors():
            identities = channel.identities(self._opened(grant))
        for identity in identities:
            if identity.external_id == grant.external_id:
                return identity
        raise AccountDisconnected("The grant no longer opens the channel that was connected.")

    def refresh(self, grant: Grant) -> Grant:
        """A new access token; the refresh token stays. Raises AccountDisconnected, Transient."""
        answer = self._application().renew(grant.tokens["refresh_token"])
        tokens = oauth.kept_tokens(grant.tokens, answer)
        return Grant(grant.credentials, tokens, grant.external_id, oauth.expiry_of(answer))

    def revoke(self, grant: Grant) -> None:
        """End the grant, access token included. Raises Transient."""
        self._application().revoke(grant.tokens["refresh_token"])

    def publish(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Take the step that `progress` names."""
        return videos.STEPS[progress.phase](self._opened(grant), content, progress.state)

    def find(self, grant: Grant, content: Content, progress: Progress) -> Progress | Absent:
        """Ask the upload session whether it has made the video."""
        return videos.find(self._opened(grant), content, progress.state)

    def _opened(self, grant: Grant) -> Api:
        return Api(self._api(), grant.tokens["access_token"])

    def _application(self) -> Application:
        """Tokens are issued elsewhere than consent is given, unless the operator names one place for both."""
        base = self.setting("AUTH_BASE").rstrip("/")
        consent, tokens = base or "https://accounts.google.com", base or "https://oauth2.googleapis.com"
        return Application(self.setting("CLIENT_ID"), self.setting("CLIENT_SECRET"), consent, tokens)

    def _api(self) -> str:
        return self.setting("API_BASE", "https://www.googleapis.com").rstrip("/")
