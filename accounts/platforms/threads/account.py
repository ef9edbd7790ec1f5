"""A profile at Threads, and what Threads' own error codes mean.

Sources: developers.facebook.com/docs/threads (profiles, troubleshooting); subcodes as clients report them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from accounts.platforms.meta.errors import Kind, Product
from accounts.platforms.meta.graph import Graph, UnreadableAnswer, id_of, line
from accounts.platforms.types import Identity

SITE = "https://www.threads.com"
CONTAINER_NOT_THERE = 4279009  # also while Threads is still making it known to itself

_KINDS: dict[int, Kind] = {
    24: "passing",
    CONTAINER_NOT_THERE: "passing",
    2207042: "quota",  # posts of the day
    2207051: "content",  # held back against spam
    2207052: "content",  # the media cannot be fetched
    4279013: "content",  # the profile is restricted
}
PRODUCT = Product("threads", "Threads", _KINDS)

_USERNAME = re.compile(r"[A-Za-z0-9._]{1,50}")
_PICTURE = re.compile(r"https://[\x21-\x7e]{1,2000}")


@dataclass(frozen=True)
class Account:
    """A connected profile: its id, and the API with its token."""

    graph: Graph
    id: str


def identity(graph: Graph) -> Identity:
    """Whose token it is. Raises GraphError, NotSent, NoAnswer."""
    told = graph.get("/me", {"fields": "id,username,name,threads_profile_picture_url"})
    username, picture = told.get("username"), told.get("threads_profile_picture_url")
    if not isinstance(username, str) or not _USERNAME.fullmatch(username):
        raise UnreadableAnswer("The answer names no profile.")
    return Identity(
        external_id=id_of(told),
        handle=username,
        display_name=line(told.get("name")),
        avatar_url=picture if isinstance(picture, str) and _PICTURE.fullmatch(picture) else "",
        profile_url=f"{SITE}/@{username}",
    )
