"""The X adapter: connects accounts by OAuth 2.0 with PKCE, publishes posts, and finds posts that were published."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from accounts.platforms.http.oauth_platform import OAuthPlatform
from accounts.platforms.http.responses import fetchable_picture_url_or_empty, one_line, required_matching_text
from accounts.platforms.types import Content, Grant, Identity, NotPublishedProof, Progress, Published
from accounts.platforms.x import media, posts
from accounts.platforms.x.capabilities import CAPABILITIES, SCOPES, SETUP
from accounts.platforms.x.client import ERRORS, SITE, Api, XOAuthClient, data_of, id_of

_USERNAME = re.compile(r"[A-Za-z0-9_]{1,50}")


class X(OAuthPlatform):
    """The adapter that connects X accounts and publishes to them.

    Publishing goes `start`, then for each file `upload` (for GIFs and videos also `append`, `finalize` and `process`),
    `describe` for each alt text, and `create` for each segment of a thread. Its state is {since, media, described}:
    when the publication began, the ids of the uploads, and how many of them have their alt text; also {pending, segment,
    looks} while a file is uploaded in parts (its id, the next part, how often X was asked whether it is processed), and
    `again` if the media were uploaded a second time. The segments are the ids of the published posts.
    A grant's tokens are {access_token, refresh_token, username}; its external_id is the account's id.
    """

    name = "x"
    label = "X"
    icon = "x-twitter"
    colour = "#0f1419"
    capabilities = CAPABILITIES
    setup = SETUP
    errors = ERRORS
    irreversible = frozenset({"create"})
    bills_reads_of_accounts = True
    # Longer than any request takes, because a published post appears in the account's list of posts only after a while.
    settles_seconds = 180.0

    def fetch_identities(self, tokens: Mapping[str, Any]) -> tuple[Identity, ...]:
        """Method of X's adapter: return the one account of an access token. Source: docs.x.com, users/me."""
        api = Api(self._api_address(), tokens["access_token"])
        user = data_of(api.get("/2/users/me", {"user.fields": "profile_image_url"}))
        username = required_matching_text(user, "username", _USERNAME, "user name")
        identity = Identity(
            external_id=id_of(user),
            handle=username,
            display_name=one_line(user.get("name")),
            avatar_url=fetchable_picture_url_or_empty(user.get("profile_image_url")),
            profile_url=f"{SITE}/{username}",
        )
        return (identity,)

    def details_stored_with_tokens(self, identity: Identity) -> Mapping[str, Any]:
        """Method of X's adapter: return the user name, which is stored with the tokens and used in the URLs of posts."""
        return {"username": identity.handle}

    def oauth_client(self) -> XOAuthClient:
        """Method of X's adapter: return the client of X's OAuth endpoints, built from the settings."""
        return XOAuthClient(
            self.platform_setting("CLIENT_ID"),
            self.platform_setting("CLIENT_SECRET"),
            authorize_url=f"{self.platform_setting('AUTH_BASE', SITE).rstrip('/')}/i/oauth2/authorize",
            token_url=f"{self._api_address()}/2/oauth2/token",
            revoke_url=f"{self._api_address()}/2/oauth2/revoke",
            scopes=SCOPES,
            pkce="S256",
        )

    def publish_step(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Method of X's adapter: take the next step, such as uploading a media file or creating the next post of a thread."""
        if progress.phase == "start":
            return posts.check_content_and_return_first_step(content, progress)
        if progress.phase == "create":
            return posts.create_next_post(self._api(grant), content, progress)
        return media.STEPS[progress.phase](self._api(grant), content.media, progress)

    def find_or_rule_out_published_post(
        self, grant: Grant, content: Content, progress: Progress
    ) -> Progress | Published | NotPublishedProof:
        """Adapter method that searches for the X post which an interrupted attempt may have published."""
        return posts.find_or_rule_out_published_post(self._api(grant), content, progress)

    def _api(self, grant: Grant) -> Api:
        return Api(self._api_address(), grant.tokens["access_token"], grant.external_id, grant.tokens["username"])

    def _api_address(self) -> str:
        return self.platform_setting("API_BASE", "https://api.x.com").rstrip("/")
