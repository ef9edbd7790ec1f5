"""Looking whether a post is there: among those that the account has made since the publication began.

X bills each post that is read, so nothing is read unless an outcome is unknown, and no more than what is newer than the
beginning, or than the segment before. A post with media is known by the media's ids, a further segment by the post that
it replies to, and a text by what X was given: links as they were written, not as X shortens them. A text with a poll and
the same text without one are different posts.
Source: docs.x.com, users/:id/tweets, and the data dictionary of posts.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from accounts.platforms.errors import OutcomeUnknown
from accounts.platforms.http.responses import UnreadableAnswer
from accounts.platforms.types import Absent, CompleteList
from accounts.platforms.x.account import Account
from accounts.platforms.x.client import id_of

PAGE = 100
MAX_PAGES = 3
# Between this machine's clock, by which the beginning is known, and X's. X refuses a text that it was given so shortly
# before, so that what is found there is no other post.
CLOCKS_APART = timedelta(minutes=5)
POSTS_ARE_LISTED = "users/:id/tweets: the account's 3,200 newest posts, replies and protected posts too"
FIELDS = "attachments,edit_history_tweet_ids,entities,referenced_tweets"

_PROTOCOL = re.compile(r"https?://", re.IGNORECASE)


def find(account: Account, text: str, state: Mapping[str, Any], *, with_poll: bool) -> str | Absent:
    """The id of the post that an earlier try to send this segment has made; Absent when there is certainly none.

    Raises OutcomeUnknown when nobody can tell, XError, NotSent, NoAnswer.
    """
    parent, media = (state["sent"][-1], []) if state["sent"] else (None, sorted(state["media"]))
    newer = {"since_id": parent} if parent else {"start_time": _start_time(state["since"])}
    doubtful = False
    for post in _posts(account, newer):
        if _references(post).get("replied_to") != parent or sorted(_media_of(post)) != media:
            continue
        told, has_poll = _told(post), bool(_attached(post, "poll_ids"))
        if has_poll and not with_poll:
            continue
        if with_poll and not has_poll:  # another post, or ours without what X did not tell of it or did not take
            doubtful |= _letters(told) == _letters(text)
            continue
        if media or _squeezed(told) == _squeezed(text):
            return id_of(post)
        # X may have written it otherwise, or its owner: nobody can tell any more what it said.
        doubtful |= _letters(told) == _letters(text) or len(_listed(post.get("edit_history_tweet_ids"))) > 1
    if doubtful:
        raise OutcomeUnknown("A post that may be this one stands at the account, changed.", final=True)
    return Absent(CompleteList(back_to=parent or newer["start_time"], kind_listed=POSTS_ARE_LISTED))


def _posts(account: Account, newer: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """The account's posts, newest first. Raises OutcomeUnknown when there are too many to read."""
    params = {"max_results": str(PAGE), "exclude": "retweets", "tweet.fields": FIELDS, **newer}
    for _ in range(MAX_PAGES):
        page = account.api.get(f"/2/users/{account.id}/tweets", params)
        meta, posts = page.get("meta"), _entries(page.get("data"))
        # Without a count something else went wrong, not that there are no posts; one with errors
        # leaves posts out.
        if not isinstance(meta, dict) or meta.get("result_count") != len(posts) or page.get("errors"):
            raise UnreadableAnswer("The answer is no list of posts.")
        yield from posts
        if not meta.get("next_token"):
            return
        params["pagination_token"] = str(meta["next_token"])
    raise OutcomeUnknown("The account has posted too much since to tell whether this post is there.", final=True)


def _start_time(since: str) -> str:
    moment = datetime.fromisoformat(since).astimezone(UTC) - CLOCKS_APART
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _references(post: Mapping[str, Any]) -> dict[Any, Any]:
    """The posts that it refers to, by how: replied_to, quoted."""
    return {each.get("type"): each.get("id") for each in _entries(post.get("referenced_tweets"))}


def _media_of(post: Mapping[str, Any]) -> list[str]:
    """The ids of its media; a media key is a number for the kind, `_` and the id."""
    return [str(key).rpartition("_")[2] for key in _attached(post, "media_keys")]


def _attached(post: Mapping[str, Any], name: str) -> list[Any]:
    """What the post carries, by its keys or ids: media_keys, poll_ids."""
    attachments = post.get("attachments")
    return _listed(attachments.get(name)) if isinstance(attachments, dict) else []


def _told(post: Mapping[str, Any]) -> str:
    """The text as X was given it: X writes `&`, `<` and `>` as HTML does, and each link as one of its own."""
    text, entities = html.unescape(str(post.get("text"))), post.get("entities")
    for url in _entries(entities.get("urls")) if isinstance(entities, dict) else []:
        shown, given = url.get("url"), url.get("expanded_url")
        if isinstance(shown, str) and shown and isinstance(given, str):
            text = text.replace(shown, given)
    return text


def _squeezed(text: str) -> str:
    """The text without white space, which X trims, and without the protocol, which it adds to bare domains."""
    return "".join(unicodedata.normalize("NFC", _PROTOCOL.sub("", text)).split())


def _letters(text: str) -> str:
    """The letters and digits, which no way of writing loses; all of it but white space where it has none."""
    folded = unicodedata.normalize("NFKC", _squeezed(text)).casefold()
    return "".join(char for char in folded if char.isalnum()) or _squeezed(text)


def _entries(value: Any) -> list[dict[str, Any]]:
    return [each for each in _listed(value) if isinstance(each, dict)]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
