"""Which post of the profile it is that was published: among those since the publication began, by its words and its kind,
a further segment by the post that it replies to.

Source: developers.facebook.com/docs/threads (retrieve posts, retrieve replies).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from accounts.platforms.chains import segments
from accounts.platforms.errors import OutcomeUnknown
from accounts.platforms.meta.graph import GraphError, cursor_after, entries, id_of
from accounts.platforms.meta.matching import earliest, moment_of, same_text
from accounts.platforms.threads.account import PRODUCT, Account
from accounts.platforms.types import Content, MediaFile

PAGE = 100
MAX_PAGES = 3


def find(account: Account, content: Content, state: Mapping[str, Any]) -> str | None:
    """The id of the post that an earlier try to publish this segment has made; None when it is not listed.

    Raises OutcomeUnknown when it cannot be told from others or not be read, GraphError, NotSent, NoAnswer.
    """
    sent: Sequence[str] = state["sent"]
    text, kind = segments(content)[len(sent)], _kind(() if sent else content.media)
    found = [
        id_of(post)
        for post in _posts(account, "replies" if sent else "threads", state["since"])
        if _replied_to(post) == (sent[-1] if sent else None)
        and post.get("media_type") == kind
        and same_text(_bare(post.get("text")), _bare(text))
    ]
    if len(found) > 1:
        raise OutcomeUnknown(
            "Several posts at the profile say the same, so that none is known to be this one.", final=True
        )
    return found[0] if found else None


def _posts(account: Account, collection: str, since: str) -> Iterator[dict[str, Any]]:
    """The profile's posts or replies since then, newest first."""
    begun = earliest(since)
    fields = "id,text,timestamp,media_type" + (",replied_to" if collection == "replies" else "")
    params = {"fields": fields, "since": str(int(begun.timestamp())), "limit": str(PAGE)}
    for _ in range(MAX_PAGES):
        page = _page(account, collection, params)
        for post in entries(page):
            moment = moment_of(post, "timestamp")
            if moment is not None and moment >= begun:
                yield post
        if not (after := cursor_after(page)):
            return
        params["after"] = after
    raise OutcomeUnknown("The profile has posted too much since to tell whether this post is there.", final=True)


def _page(account: Account, collection: str, params: Mapping[str, str]) -> dict[str, Any]:
    try:
        return account.graph.get(f"/{account.id}/{collection}", params)
    except GraphError as error:
        if PRODUCT.kind_of(error) == "lost":
            raise OutcomeUnknown(
                f"Threads does not let this service read the profile's {collection}.", final=True
            ) from error
        raise


def _replied_to(post: Mapping[str, Any]) -> Any:
    parent = post.get("replied_to")
    return parent.get("id") if isinstance(parent, dict) else None


def _kind(files: Sequence[MediaFile]) -> str:
    """What Threads calls a post of these files."""
    if len(files) > 1:
        return "CAROUSEL_ALBUM"
    return ("VIDEO" if files[0].kind == "video" else "IMAGE") if files else "TEXT_POST"


def _bare(text: Any) -> str:
    """The text without the signs of hashtags, since Threads shows the first one as the post's topic."""
    return text.replace("#", "") if isinstance(text, str) else ""
