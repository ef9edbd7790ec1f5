"""The Pinterest adapter: connects accounts by OAuth 2.0 and creates pins on their boards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.platforms.errors import ContentRejected
from accounts.platforms.http.oauth_platform import OAuthPlatform
from accounts.platforms.pinterest import account, pins, video
from accounts.platforms.pinterest.capabilities import CAPABILITIES, SCOPES
from accounts.platforms.pinterest.client import ERRORS, Api
from accounts.platforms.pinterest.setup import SETUP
from accounts.platforms.pinterest.tokens import PinterestApplication
from accounts.platforms.types import Content, Grant, Identity, Progress, Published

API_BASE = "https://api.pinterest.com/v5"


class Pinterest(OAuthPlatform):
    """Publishes pins for Pinterest accounts.

    A login connects one account, and the board is an option of the post. One account per board would not work: all boards
    share one refresh token, which is replaced at each use, so using one copy of it would invalidate the others.
    Publishing goes `start` (which finds the board), for a video `upload` and `process`, then `create`. Its state is {board,
    media_id, looks, again}: the ids of the board and of the video, how often Pinterest was asked whether the video is
    processed, and whether it was uploaded a second time.
    A grant's tokens are {access_token, refresh_token}; its external_id is the account's id.
    """

    name = "pinterest"
    label = "Pinterest"
    capabilities = CAPABILITIES
    setup = SETUP
    errors = ERRORS
    irreversible = frozenset({"create"})

    def application(self) -> PinterestApplication:
        """The operator's app at Pinterest."""
        return PinterestApplication(
            self.setting("CLIENT_ID"),
            self.setting("CLIENT_SECRET"),
            authorize_url=f"{self.setting('AUTH_BASE', account.SITE).rstrip('/')}/oauth/",
            token_url=f"{self._api_base()}/oauth/token",
            revoke_url=f"{self._api_base()}/oauth/token/revoke",
            scopes=SCOPES,
        )

    def identities(self, tokens: Mapping[str, Any]) -> tuple[Identity, ...]:
        """The one Pinterest account that an access token gives access to."""
        return (account.identity(self._api(tokens)),)

    def publish(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Find the board, upload the video, or create the pin at Pinterest, as `progress` says."""
        api = self._api(grant.tokens)
        if progress.phase == "start":
            if not content.media:
                raise ContentRejected("A pin needs an image or a video.")
            state = {"board": account.board_id(api, content.options["board"])}
            return Progress("upload" if content.media[0].kind == "video" else "create", state)
        if progress.phase == "upload":
            return video.upload(api, content.media[0], progress.state)
        if progress.phase == "process":
            return video.process(api, progress.state)
        return pins.create(api, content, progress.state)

    def _api(self, tokens: Mapping[str, Any]) -> Api:
        return Api(self._api_base(), tokens["access_token"])

    def _api_base(self) -> str:
        return self.setting("API_BASE", API_BASE).rstrip("/")
