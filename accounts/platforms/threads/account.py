"""Threads profiles, the operator's app, and the meaning of Threads' own error codes.

Sources: developers.facebook.com/docs/threads (profiles, get access tokens, long-lived tokens, troubleshooting); subcodes are
those that clients report.
"""

from __future__ import annotations

import re

from accounts.platforms.http.responses import https_url, one_line, text_in
from accounts.platforms.meta.errors import MetaErrors
from accounts.platforms.meta.graph import Graph, id_of
from accounts.platforms.meta.platform import MetaApplication
from accounts.platforms.types import Identity

SITE = "https://www.threads.com"
UNKNOWN_CONTAINER = 4279009  # also for a while after the container was created

_USERNAME = re.compile(r"[A-Za-z0-9._]{1,50}")


class ThreadsErrors(MetaErrors):
    """Translates Threads' errors."""

    name = "threads"
    label = "Threads"
    meanings = {
        24: "transient",
        UNKNOWN_CONTAINER: "transient",
        2207042: "rate_limit",  # the posts of the day
        2207051: "content",  # withheld as spam
        2207052: "content",  # the media cannot be fetched
        4279013: "content",  # the profile is restricted
    }


ERRORS = ThreadsErrors()


class ThreadsApplication(MetaApplication):
    """The operator's OAuth app at Threads, which has an id and a secret of its own within the Meta app."""

    label = "Threads"
    errors = ERRORS
    grant_prefix = "th"


def identity(graph: Graph) -> Identity:
    """The Threads profile of an access token. Raises GraphError, NotSent, NoAnswer."""
    user = graph.get("/me", {"fields": "id,username,name,threads_profile_picture_url"})
    username = text_in(user, "username", _USERNAME, "user name")
    return Identity(
        external_id=id_of(user),
        handle=username,
        display_name=one_line(user.get("name")),
        avatar_url=https_url(user.get("threads_profile_picture_url")),
        profile_url=f"{SITE}/@{username}",
    )
