"""The YouTube adapter: connects channels by Google's OAuth 2.0, and publishes one video per post."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.errors import CredentialsRejected
from accounts.platforms.http.oauth_platform import OAuthPlatform
from accounts.platforms.http.responses import fetchable_picture_url_or_empty, object_or_empty, one_line
from accounts.platforms.post_look import PostLook
from accounts.platforms.types import AuthorizedAccount, Content, Grant, Identity, NotPublishedProof, Progress, Published
from accounts.platforms.youtube import videos
from accounts.platforms.youtube.capabilities import CAPABILITIES, SCOPES, SETUP
from accounts.platforms.youtube.client import ERRORS, SITE, Api, YouTubeOAuthClient, id_of, items_of


class YouTube(OAuthPlatform):
    """The adapter that connects YouTube channels and publishes videos to them.

    The steps are `start` (opens an upload session), `upload` (several pieces in each step, all but the last), `finish` (the
    last piece, which creates the video), `thumbnail` if the post names one, and `process` until YouTube shows the video.
    The state is {session, sessions}: the session's address, sealed because anybody can upload to the channel with it for a
    week, and how many sessions were opened. Once the video exists it is {video}, with {tries} for the thumbnail, or
    {looks, note} while it is processed. A grant's tokens are {access_token, refresh_token}; its external_id is the
    channel's id.
    """

    name = "youtube"
    label = "YouTube"
    icon = "youtube"
    colour = "#ee0000"
    look = PostLook(layout="media-first", media="wide", title_option="title")
    capabilities = CAPABILITIES
    setup = SETUP
    errors = ERRORS
    irreversible = frozenset({"finish"})
    # A session creates only one video, so if the last piece is missing it may be sent again at once.
    settles_seconds = 0.0
    revoked_tokens = ("refresh_token",)  # revoking this token also revokes the access tokens

    def oauth_client(self) -> YouTubeOAuthClient:
        """Adapter method that returns the client of Google's OAuth endpoints, built from the settings.

        The setting AUTH_BASE replaces the URLs of Google's OAuth.
        """
        base = self.platform_setting("AUTH_BASE").rstrip("/")
        tokens = base or "https://oauth2.googleapis.com"
        return YouTubeOAuthClient(
            self.platform_setting("CLIENT_ID"),
            self.platform_setting("CLIENT_SECRET"),
            authorize_url=f"{base or 'https://accounts.google.com'}/o/oauth2/v2/auth",
            token_url=f"{tokens}/token",
            revoke_url=f"{tokens}/revoke",
            scopes=SCOPES,
            pkce="S256",
        )

    def fetch_identities(self, tokens: Mapping[str, Any]) -> tuple[Identity, ...]:
        """Adapter method that returns the YouTube channels of a token, usually the one that the owner chose at Google."""
        answer = self._api(tokens).get("/youtube/v3/channels", {"part": "snippet", "mine": "true"})
        return tuple(_identity(channel) for channel in items_of(answer))

    def exchange_code_for_accounts(
        self, *, code: str, redirect_uri: str, stored: Mapping[str, Any]
    ) -> tuple[AuthorizedAccount, ...]:
        """Adapter method that exchanges an OAuth code for YouTube channels. Raises CredentialsRejected, Transient."""
        connections = super().exchange_code_for_accounts(code=code, redirect_uri=redirect_uri, stored=stored)
        if not connections:
            raise CredentialsRejected(
                gettext_noop("The Google account has no YouTube channel."),
                suggested_action=gettext_noop("Make a channel at YouTube, or connect with the account that has one."),
            )
        return connections

    def publish_step(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Adapter method that takes the next step of a YouTube publication: upload, thumbnail, or check of processing."""
        return videos.STEPS[progress.phase](self._api(grant.tokens), content, progress)

    def find_or_rule_out_published_post(
        self, grant: Grant, content: Content, progress: Progress
    ) -> Progress | NotPublishedProof:
        """Adapter method that asks whether the upload of an interrupted attempt has created the YouTube video."""
        return videos.find_or_rule_out_uploaded_video(self._api(grant.tokens), content, progress)

    def _api(self, tokens: Mapping[str, Any]) -> Api:
        return Api(self.platform_setting("API_BASE", "https://www.googleapis.com").rstrip("/"), tokens["access_token"])


def _identity(channel: Mapping[str, Any]) -> Identity:
    snippet = object_or_empty(channel.get("snippet"))
    title, channel_id = one_line(snippet.get("title")), id_of(channel)
    picture = object_or_empty(object_or_empty(snippet.get("thumbnails")).get("default"))
    return Identity(
        external_id=channel_id,
        handle=one_line(snippet.get("customUrl")).removeprefix("@") or title or channel_id,
        display_name=title,
        avatar_url=fetchable_picture_url_or_empty(picture.get("url")),
        profile_url=f"{SITE}/channel/{channel_id}",
    )
