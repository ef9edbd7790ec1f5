"""The Pinterest adapter: connects accounts by OAuth 2.0, and creates pins on their boards."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from accounts.platforms.http.oauth_platform import OAuthPlatform
from accounts.platforms.http.responses import fetchable_picture_url_or_empty, one_line, required_matching_text
from accounts.platforms.pinterest import pins, video
from accounts.platforms.pinterest.capabilities import CAPABILITIES, SCOPES, SETUP
from accounts.platforms.pinterest.client import ERRORS, SITE, Api, PinterestOAuthClient, id_of
from accounts.platforms.post_look import PostLook
from accounts.platforms.types import Content, Grant, Identity, Progress, Published

_USERNAME = re.compile(r"[A-Za-z0-9_]{1,100}")


class Pinterest(OAuthPlatform):
    """The adapter that connects Pinterest accounts and publishes pins.

    A login connects one account, and the board is an option of the post. One account per board would not work: all boards
    share one refresh token, which is replaced at each use, so using one copy of it would invalidate the others.
    Publishing goes `start` (which finds the board), for a video `upload` and `process`, then `create`. Its state is {board,
    media_id, looks, again}: the ids of the board and of the video, how often Pinterest was asked whether the video is
    processed, and whether it was uploaded a second time.
    A grant's tokens are {access_token, refresh_token}; its external_id is the account's id.
    """

    name = "pinterest"
    label = "Pinterest"
    icon = "pinterest-p"
    colour = "#bd081c"
    look = PostLook(layout="media-first", media="tall", at_sign=False, title_option="title")
    capabilities = CAPABILITIES
    setup = SETUP
    errors = ERRORS
    irreversible = frozenset({"create"})

    def oauth_client(self) -> PinterestOAuthClient:
        """Adapter method that returns the client of Pinterest's OAuth endpoints, built from the settings."""
        return PinterestOAuthClient(
            self.platform_setting("CLIENT_ID"),
            self.platform_setting("CLIENT_SECRET"),
            authorize_url=f"{self.platform_setting('AUTH_BASE', SITE).rstrip('/')}/oauth/",
            token_url=f"{self._api_address()}/oauth/token",
            revoke_url=f"{self._api_address()}/oauth/token/revoke",
            scopes=SCOPES,
        )

    def fetch_identities(self, tokens: Mapping[str, Any]) -> tuple[Identity, ...]:
        """Adapter method that returns the one Pinterest account that an access token gives access to."""
        user = self._api(tokens).get("/user_account")
        username = required_matching_text(user, "username", _USERNAME, "user name")
        identity = Identity(
            external_id=id_of(user),
            handle=username,
            display_name=one_line(user.get("business_name")) or username,
            avatar_url=fetchable_picture_url_or_empty(user.get("profile_image")),
            profile_url=f"{SITE}/{username}/",
        )
        return (identity,)

    def publish_step(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Adapter method that takes the next step at Pinterest: find the board, upload the video, or create the pin."""
        api = self._api(grant.tokens)
        if progress.phase == "start":
            return pins.find_board_and_return_first_step(api, content)
        if progress.phase == "upload":
            return video.register_and_upload_video(api, content.media[0], progress)
        if progress.phase == "process":
            return video.check_processing(api, progress)
        return pins.create_pin(api, content, progress)

    def _api(self, tokens: Mapping[str, Any]) -> Api:
        return Api(self._api_address(), tokens["access_token"])

    def _api_address(self) -> str:
        return self.platform_setting("API_BASE", "https://api.pinterest.com/v5").rstrip("/")
