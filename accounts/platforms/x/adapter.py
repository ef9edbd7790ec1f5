"""The X adapter: connects accounts by OAuth 2.0 with PKCE, publishes posts and finds them again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.platforms.http.oauth_platform import OAuthPlatform
from accounts.platforms.types import Absent, Content, Grant, Identity, Progress, Published
from accounts.platforms.x import account, media, posts
from accounts.platforms.x.account import Account
from accounts.platforms.x.capabilities import CAPABILITIES, SCOPES
from accounts.platforms.x.client import ERRORS, Api
from accounts.platforms.x.setup import SETUP
from accounts.platforms.x.tokens import XApplication


class X(OAuthPlatform):
    """Publishes to X accounts.

    Publishing goes `start`, then for each file `upload` (for GIFs and videos also `append`, `finalize` and `process`),
    `describe` for each alt text, and `create` for each segment of a thread. Its state is {since, media, described,
    sent}: when the publication began, the ids of the uploads, how many of them have their alt text, and the ids of the
    published segments; also {pending, segment, looks} while a file is uploaded in parts (its id, the next part, how often
    X was asked whether it is processed), and `again` if the media were uploaded a second time.
    A grant's tokens are {access_token, refresh_token, username}; its external_id is the account's id.
    """

    name = "x"
    label = "X"
    capabilities = CAPABILITIES
    setup = SETUP
    errors = ERRORS
    irreversible = frozenset({"create"})
    # Longer than any request takes, because a published post appears in the account's list of posts only after a while.
    settles_seconds = 180.0

    def identities(self, tokens: Mapping[str, Any]) -> tuple[Identity, ...]:
        """The one X account that an access token gives access to."""
        return (account.identity(Api(self._api(), tokens["access_token"])),)

    def stored_details(self, identity: Identity) -> Mapping[str, Any]:
        """The user name of the X account, which is part of the URLs of its posts."""
        return {"username": identity.handle}

    def application(self) -> XApplication:
        """The operator's app at X."""
        return XApplication(
            self.setting("CLIENT_ID"),
            self.setting("CLIENT_SECRET"),
            authorize_url=f"{self.setting('AUTH_BASE', account.SITE).rstrip('/')}/i/oauth2/authorize",
            token_url=f"{self._api()}/2/oauth2/token",
            revoke_url=f"{self._api()}/2/oauth2/revoke",
            scopes=SCOPES,
            pkce="S256",
        )

    def publish(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Upload the post's media to X, or publish the post or the next segment, as `progress` says."""
        if progress.phase == "start":
            return posts.begin(content)
        if progress.phase == "create":
            return posts.create(self._account(grant), content, progress.state)
        return media.STEPS[progress.phase](self._account(grant).api, content.media, progress.state)

    def find(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published | Absent:
        """Search the X account's posts since the publication began, or since the preceding segment."""
        return posts.find(self._account(grant), content, progress.state)

    def _account(self, grant: Grant) -> Account:
        return Account.of(grant, self._api())

    def _api(self) -> str:
        return self.setting("API_BASE", "https://api.x.com").rstrip("/")
