"""The TikTok adapter: connects creators by OAuth 2.0 (Login Kit), uploads videos, and publishes photos by their URLs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from accounts.platforms.http.oauth_platform import OAuthPlatform
from accounts.platforms.http.responses import (
    fetchable_picture_url_or_empty,
    object_or_empty,
    one_line,
    required_matching_text,
)
from accounts.platforms.post_look import PostLook
from accounts.platforms.tiktok import posts, publishing
from accounts.platforms.tiktok.capabilities import CAPABILITIES, SCOPES, SETUP
from accounts.platforms.tiktok.client import ERRORS, SITE, Api, TikTokOAuthClient, profile_url
from accounts.platforms.types import Content, Grant, Identity, NotPublishedProof, Progress, Published

_OPEN_ID = re.compile(r"[\w-]{1,128}", re.ASCII)


class TikTok(OAuthPlatform):
    """The adapter that connects TikTok creators and publishes their videos and photos.

    The steps are `start` (asks what the creator may post, and announces a video), for a video `upload` (several chunks in
    each step, all but the last) and `finish` (the last chunk), for photos `create`, and `poll` until TikTok has published or
    rejected the post. The state is {username, announced}: the creator's name, and how often the post was announced; for a
    video also {publish_id, address, chunks}: its id, the sealed upload address, and how many chunks were sent; for photos
    {comment_disabled}. Once TikTok has received the post it is {username, announced, publish_id, looks}.
    A grant's tokens are {access_token, refresh_token}; its external_id is the creator's open id.
    """

    name = "tiktok"
    label = "TikTok"
    icon = "tiktok"
    colour = "#121212"
    look = PostLook(layout="media-first", media="tall", title_option="title")
    capabilities = CAPABILITIES
    setup = SETUP
    errors = ERRORS
    irreversible = frozenset({"finish", "create"})
    revoked_tokens = ("access_token",)  # revoking this token ends the whole grant

    def oauth_client(self) -> TikTokOAuthClient:
        """Adapter method that returns the client of TikTok's OAuth endpoints, built from the settings."""
        site = self.platform_setting("AUTH_BASE", SITE).rstrip("/")
        return TikTokOAuthClient(
            self.platform_setting("CLIENT_ID"),
            self.platform_setting("CLIENT_SECRET"),
            authorize_url=f"{site}/v2/auth/authorize/",
            token_url=f"{self._address()}/v2/oauth/token/",
            revoke_url=f"{self._address()}/v2/oauth/revoke/",
            scopes=SCOPES,
            pkce=self.platform_setting("PKCE"),
        )

    def fetch_identities(self, tokens: Mapping[str, Any]) -> tuple[Identity, ...]:
        """Adapter method that returns the one TikTok creator that an access token gives access to."""
        api = self._api(tokens)
        user = object_or_empty(api.get("/v2/user/info/", {"fields": "open_id,avatar_url,display_name"}).get("user"))
        open_id, username = (
            required_matching_text(user, "open_id", _OPEN_ID, "open id"),
            posts.fetch_creator_limits(api).username,
        )
        return (
            Identity(
                external_id=open_id,
                handle=username,
                display_name=one_line(user.get("display_name")),
                avatar_url=fetchable_picture_url_or_empty(user.get("avatar_url")),
                profile_url=profile_url(username),
            ),
        )

    def publish_step(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Adapter method that takes the next step at TikTok: announce or send the files, or ask for the status."""
        if progress.phase == "start":
            posts.require_verified_photo_urls(content, self.platform_setting("VERIFIED_PREFIX"))
        return publishing.STEPS[progress.phase](self._api(grant.tokens), content, progress)

    def find_or_rule_out_published_post(
        self, grant: Grant, content: Content, progress: Progress
    ) -> Progress | NotPublishedProof:
        """Adapter method that finds out whether TikTok has received a whole video, which it then publishes."""
        return publishing.find_or_rule_out_uploaded_video(self._api(grant.tokens), content, progress)

    def _api(self, tokens: Mapping[str, Any]) -> Api:
        return Api(self._address(), tokens["access_token"])

    def _address(self) -> str:
        return self.platform_setting("API_BASE", "https://open.tiktokapis.com").rstrip("/")
