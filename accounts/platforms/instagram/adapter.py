"""The Instagram adapter: connects professional accounts by Instagram Login, and publishes posts.

Source of the login: developers.facebook.com, instagram-platform (business-login, refresh_access_token).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.errors import CredentialsRejected, ReauthRequired
from accounts.platforms.http.responses import fetchable_picture_url_or_empty, one_line
from accounts.platforms.instagram import containers, posts
from accounts.platforms.instagram.capabilities import CAPABILITIES, REQUIRED_SCOPES, SCOPES, SETUP
from accounts.platforms.instagram.errors import ERRORS
from accounts.platforms.meta.graph import id_of, unversioned_address, username_of
from accounts.platforms.meta.platform import MetaOAuthClient, MetaPlatform
from accounts.platforms.post_look import PostLook
from accounts.platforms.types import Grant, Identity

OAUTH_API_BASE = "https://api.instagram.com"  # where codes are exchanged
SITE = "https://www.instagram.com"


class InstagramOAuthClient(MetaOAuthClient):
    """The client of Instagram's OAuth endpoints that the Instagram adapter uses, with the operator's app."""

    label = "Instagram"
    errors = ERRORS
    grant_prefix = "ig"
    needed_scopes = REQUIRED_SCOPES


class Instagram(MetaPlatform):
    """The adapter that connects professional Instagram accounts and publishes to them.

    Publishing goes `start`, `container` for each file, `process` while Instagram fetches them, for a carousel `gather`
    and `process` again; `create`, which publishes; and `comment` if a first comment is asked for. Its state is {since,
    round, children, looks}: when the current round of containers began and its number, the containers of a carousel's files,
    how often they were asked about; {container, pending} once there is one to publish.
    A grant's tokens are {access_token}; its external_id is the account's id for publishing.
    """

    name = "instagram"
    label = "Instagram"
    icon = "instagram"
    colour = "#d62976"
    look = PostLook(layout="media-first", media="square", at_sign=False)
    capabilities = CAPABILITIES
    setup = SETUP
    errors = ERRORS
    irreversible = frozenset({"create", "comment"})
    settles_seconds = 180.0  # longer than Instagram may still carry out an abandoned request
    api_base = "https://graph.instagram.com"
    default_scopes = SCOPES
    steps = {
        "start": posts.check_content_and_return_first_step,
        "container": containers.create_next_file_container,
        "process": containers.check_containers,
        "gather": containers.create_carousel_container,
        "create": posts.publish_container,
        "comment": posts.FIRST_COMMENT_STEPS.create_comment,
    }
    searches = {
        "create": posts.find_or_rule_out_published_post,
        "comment": posts.FIRST_COMMENT_STEPS.find_or_rule_out_first_comment,
    }

    def oauth_client(self) -> InstagramOAuthClient:
        """Adapter method that returns the client of Instagram's OAuth endpoints, built from the settings.

        The setting AUTH_BASE replaces the URL of Instagram's OAuth endpoints.
        """
        site, tokens = (self.platform_setting("AUTH_BASE", default).rstrip("/") for default in (SITE, OAUTH_API_BASE))
        return InstagramOAuthClient(
            self.platform_setting("CLIENT_ID"),
            self.platform_setting("CLIENT_SECRET"),
            authorize_url=f"{site}/oauth/authorize",
            token_url=f"{tokens}/oauth/access_token",
            scopes=self.scopes_to_request(),
            api=unversioned_address(self.graph_api_url()),
        )

    def fetch_identities(self, tokens: Mapping[str, Any]) -> tuple[Identity, ...]:
        """Adapter method that returns the Instagram account of a token. Raises CredentialsRejected for a personal account."""
        fields = "user_id,username,name,account_type,profile_picture_url"
        user = self.graph_client(tokens).get("/me", {"fields": fields})
        username = username_of(user)
        if user.get("account_type") == "PERSONAL":
            raise CredentialsRejected(
                gettext_noop("Instagram lets services publish for professional accounts only."),
                suggested_action=gettext_noop("Switch the account to a business or creator account, then connect it again."),
            )
        return (
            Identity(
                external_id=id_of(user, "user_id"),
                handle=username,
                display_name=one_line(user.get("name")),
                avatar_url=fetchable_picture_url_or_empty(user.get("profile_picture_url")),
                profile_url=f"{SITE}/{username}/",
            ),
        )

    def check_and_identify(self, grant: Grant) -> Identity:
        """Adapter method that asks Instagram whose token it is. Raises ReauthRequired if the account is now personal."""
        try:
            return super().check_and_identify(grant)
        except CredentialsRejected as error:
            raise ReauthRequired(error.message, suggested_action=error.suggested_action) from error
