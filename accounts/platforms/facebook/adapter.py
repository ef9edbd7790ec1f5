"""The Facebook adapter: connects pages by Facebook Login, publishes posts, and finds posts that were published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.errors import CredentialsRejected, ReauthRequired, TokenExpired
from accounts.platforms.facebook import media, posts
from accounts.platforms.facebook.authorization import FacebookOAuthClient
from accounts.platforms.facebook.capabilities import CAPABILITIES, SCOPES, SETUP
from accounts.platforms.facebook.errors import ERRORS
from accounts.platforms.facebook.lookup import FIRST_COMMENT_STEPS
from accounts.platforms.facebook.page import FIELDS, SITE, FacebookPageClient, identity_of
from accounts.platforms.meta.graph import Graph, versioned_address
from accounts.platforms.meta.platform import MetaPlatform
from accounts.platforms.post_look import PostLook
from accounts.platforms.types import AuthorizedAccount, Grant, Identity


class Facebook(MetaPlatform):
    """The adapter that connects Facebook pages and publishes to them.

    Publishing goes `start`, then `photo` for each photo, or `open` and `send` for a video; `create`, which publishes;
    `settle` while Facebook processes a video; and `comment` if a first comment is asked for. Its state is {since, photos}:
    when the publication began, and the ids of the uploads; {video, sessions, session, offset, end} or {video, sessions,
    address (sealed)} while a video is sent; {looks} while it is processed; and `again` if its uploads had to be repeated.
    A grant's tokens are {access_token}, the page's own; its external_id is the page's id. Ending a grant at Facebook
    would end the person's consent, and with it every other page that the person has connected, so none is.
    """

    name = "facebook"
    label = "Facebook"
    icon = "facebook-f"
    colour = "#0866ff"
    look = PostLook(at_sign=False, card_option="link")
    capabilities = CAPABILITIES
    setup = SETUP
    errors = ERRORS
    irreversible = frozenset({"create", "comment"})
    # Facebook does not say how soon a page's lists show a new post; ten minutes are far more than what was observed.
    settles_seconds = 600.0
    api_base = "https://graph.facebook.com"
    default_scopes = SCOPES
    steps = {
        "start": posts.check_content_and_return_first_step,
        "photo": media.upload_next_photo,
        "open": media.check_reel_limit_and_open_upload,
        "send": media.upload_video_or_next_parts,
        "create": posts.create_post,
        "settle": posts.check_video_processing,
        "comment": FIRST_COMMENT_STEPS.create_comment,
    }
    searches = {
        "create": posts.find_or_rule_out_published_post,
        "comment": FIRST_COMMENT_STEPS.find_or_rule_out_first_comment,
    }

    def oauth_client(self) -> FacebookOAuthClient:
        """Adapter method that returns the client of Facebook's OAuth endpoints, built from the settings."""
        return FacebookOAuthClient(
            self.platform_setting("CLIENT_ID"),
            self.platform_setting("CLIENT_SECRET"),
            authorize_url=f"{versioned_address(self.platform_setting('AUTH_BASE', SITE), self.api_version())}/dialog/oauth",
            token_url=f"{self.graph_api_url()}/oauth/access_token",
            scopes=self.scopes_to_request(),
        )

    def exchange_code_for_accounts(
        self, *, code: str, redirect_uri: str, stored: Mapping[str, Any]
    ) -> tuple[AuthorizedAccount, ...]:
        """Adapter method that exchanges an OAuth code for Facebook pages. Raises CredentialsRejected, Transient."""
        client = self.oauth_client()
        tokens = client.exchange_code(code, redirect_uri, stored)
        try:
            with ERRORS.translating_repeatable_call_errors():
                return client.fetch_page_connections(self.graph_client(tokens))
        except (TokenExpired, ReauthRequired) as error:
            raise CredentialsRejected(error.message) from error

    def fetch_identities(self, tokens: Mapping[str, Any]) -> tuple[Identity, ...]:
        """Adapter method that returns the one Facebook page which a page's access token belongs to."""
        return (identity_of(self.graph_client(tokens).get("/me", {"fields": FIELDS})),)

    def refresh_grant(self, grant: Grant) -> Grant:
        """Adapter method that raises ReauthRequired: a Facebook page gets a new token only if the owner logs in again.

        A page's token ends only because of something that its owner did.
        """
        raise ReauthRequired(
            gettext_noop("Facebook no longer accepts the access to this page: a password, a role or the consent has changed.")
        )

    def account_client(self, grant: Grant) -> FacebookPageClient:
        """Adapter method that returns the connected Facebook page with the Graph API clients that use its token."""
        graph = self.graph_client(grant.tokens)
        videos = (
            self.platform_setting("VIDEO_API_BASE") or self.platform_setting("API_BASE") or "https://graph-video.facebook.com"
        )
        return FacebookPageClient(
            graph, grant.external_id, replace(graph, address=versioned_address(videos, self.api_version()))
        )

    def graph_client(self, tokens: Mapping[str, Any]) -> Graph:
        """Adapter method that returns a Graph API client with the token of a Facebook page or of a person."""
        return Graph(self.graph_api_url(), tokens["access_token"], self.platform_setting("CLIENT_SECRET"))
