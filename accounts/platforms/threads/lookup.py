"""Finding a published segment among the Threads profile's posts since the publication began.

A post is recognized by its text and kind, a further segment also by the post that it replies to. Source:
developers.facebook.com/docs/threads (retrieve posts, retrieve replies).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from accounts.platforms.chains import segments
from accounts.platforms.errors import OutcomeUnknown
from accounts.platforms.http.responses import as_object
from accounts.platforms.meta.graph import Account, earliest, id_of, same_text, time_of
from accounts.platforms.threads.account import ERRORS
from accounts.platforms.types import Content, MediaFile

PAGE_SIZE, MAX_PAGES = "100", 3


def find(account: Account, content: Content, state: Mapping[str, Any]) -> str | None:
    """The id of the Threads post that an earlier attempt has published for this segment; None if it is not listed.

    Raises OutcomeUnknown if several posts match or the list cannot be read, TokenExpired, Transient.
    """
    sent: Sequence[str] = state["sent"]
    text, media_type = segments(content)[len(sent)], _media_type(() if sent else content.media)
    edge = "replies" if sent else "threads"
    with ERRORS.search_errors(f"the profile's {edge}"):
        found = [
            id_of(post)
            for post in _posts_since(account, edge, state["since"])
            if as_object(post.get("replied_to")).get("id") == (sent[-1] if sent else None)
            and post.get("media_type") == media_type
            and same_text(_without_hash(post.get("text")), _without_hash(text))
        ]
    if len(found) > 1:
        raise OutcomeUnknown("Several posts of the profile have this text.", final=True)
    return found[0] if found else None


def _posts_since(account: Account, edge: str, since: str) -> Iterator[dict[str, Any]]:
    """The Threads profile's posts or replies since the time `since`, newest first."""
    start = earliest(since)
    params = {
        "fields": "id,text,timestamp,media_type" + (",replied_to" if edge == "replies" else ""),
        "since": str(int(start.timestamp())),
        "limit": PAGE_SIZE,
    }
    too_long = OutcomeUnknown("The profile has posted too much since then to find this post.", final=True)
    for post in account.graph.list_all(f"/{account.id}/{edge}", params, max_pages=MAX_PAGES, too_long=too_long):
        created_at = time_of(post, "timestamp")
        if created_at and created_at >= start:
            yield post


def _media_type(files: Sequence[MediaFile]) -> str:
    """Threads' media type of a post with these files."""
    if len(files) > 1:
        return "CAROUSEL_ALBUM"
    return ("VIDEO" if files[0].kind == "video" else "IMAGE") if files else "TEXT_POST"


def _without_hash(text: Any) -> str:
    """The text without the signs of hashtags, because Threads shows the first hashtag as the post's topic."""
    return text.replace("#", "") if isinstance(text, str) else ""
