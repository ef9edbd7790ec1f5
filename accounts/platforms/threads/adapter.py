"""The Threads adapter: connects profiles by Meta's OAuth, and publishes their posts.

Source of the login: developers.facebook.com/docs/threads (profiles, get access tokens, long-lived tokens).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.platforms.http.responses import fetchable_picture_url_or_empty, one_line
from accounts.platforms.meta.graph import id_of, unversioned_address, username_of
from accounts.platforms.meta.platform import MetaOAuthClient, MetaPlatform
from accounts.platforms.threads import containers, posts
from accounts.platforms.threads.capabilities import CAPABILITIES, SCOPES, SETUP
from accounts.platforms.threads.errors import ERRORS
from accounts.platforms.types import Identity


class ThreadsOAuthClient(MetaOAuthClient):
    """The client of Threads' OAuth endpoints; the app's id and secret differ from those of the operator's Meta app."""

    label = "Threads"
    errors = ERRORS
    grant_prefix = "th"


class Threads(MetaPlatform):
    """The adapter that connects Threads profiles and publishes to them.

    Publishing goes `start`, then for each segment `container` (for a carousel first for each file), `wait` until Threads has
    processed it, and `publish`; and `permalink` at the end, which needs no state. Before, the state is {since}: when the
    publication began; {children, container} of the next segment, {waiting, looks} while Threads processes them, and {misses,
    anew} if Threads did not find one. The segments are the ids of the published posts. A grant's tokens are {access_token};
    its external_id is the profile's id.
    """

    name = "threads"
    label = "Threads"
    icon = "threads"
    colour = "#101010"
    capabilities = CAPABILITIES
    setup = SETUP
    errors = ERRORS
    irreversible = frozenset({"publish"})
    # Until an abandoned request is over: a container that is being published still counts as ready.
    settles_seconds = 120.0
    api_base = "https://graph.threads.net"
    default_scopes = SCOPES
    steps = {
        "start": posts.check_content_and_return_first_step,
        "container": containers.create_next_container,
        "wait": posts.check_segment_containers,
        "publish": posts.publish_container,
        "permalink": posts.fetch_permalink_and_finish,
    }
    searches = {"publish": posts.find_or_rule_out_published_post}

    def oauth_client(self) -> ThreadsOAuthClient:
        """Adapter method that returns the client of Threads' OAuth endpoints, built from the settings."""
        api = unversioned_address(self.graph_api_url())
        return ThreadsOAuthClient(
            self.platform_setting("CLIENT_ID"),
            self.platform_setting("CLIENT_SECRET"),
            authorize_url=f"{self.platform_setting('AUTH_BASE', 'https://threads.com').rstrip('/')}/oauth/authorize",
            token_url=f"{api}/oauth/access_token",
            scopes=self.scopes_to_request(),
            api=api,
        )

    def fetch_identities(self, tokens: Mapping[str, Any]) -> tuple[Identity, ...]:
        """Adapter method that returns the one Threads profile that an access token gives access to."""
        user = self.graph_client(tokens).get("/me", {"fields": "id,username,name,threads_profile_picture_url"})
        username = username_of(user)
        return (
            Identity(
                external_id=id_of(user),
                handle=username,
                display_name=one_line(user.get("name")),
                avatar_url=fetchable_picture_url_or_empty(user.get("threads_profile_picture_url")),
                profile_url=f"https://www.threads.com/@{username}",
            ),
        )

    def api_version(self) -> str:
        """Adapter method that returns the version number in URLs of the Threads API, of which only one version exists."""
        return "v1.0"
