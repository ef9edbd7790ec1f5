"""The steps that create an X post or a thread of posts, and that find a post if the outcome is unknown.

X has no idempotency key. It refuses a text that the account posted shortly before, so such a refusal may mean that an
earlier attempt has published the post.

X bills each post that is read, so nothing is read unless an outcome is unknown, and only posts that are newer than the
beginning or the preceding segment. A post with media is identified by its media ids, a further segment by the post that it
replies to, and other posts by their text as it was sent: with links as they were written, not as X shortens them. A text
with a poll and the same text without one are different posts.
Sources: docs.x.com, POST /2/tweets, users/:id/tweets, and the data dictionary of posts.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_noop

from accounts.platforms import polls
from accounts.platforms.errors import OutcomeUnknown
from accounts.platforms.http.responses import UnreadableAnswer, object_or_empty, objects_in
from accounts.platforms.thread_option import raise_if_platform_would_refuse_thread, thread_texts_including_first
from accounts.platforms.types import Content, MissingFromListProof, NotPublishedProof, Progress, Published
from accounts.platforms.x import media
from accounts.platforms.x.capabilities import CAPABILITIES
from accounts.platforms.x.client import ERRORS, SITE, Api, XError, data_of, id_of

FIRST_SEGMENT_OPTIONS = ("reply_settings", "made_with_ai", "paid_partnership")
PAGE_SIZE = 100
MAX_PAGES = 3
# How far X's clock may differ from this machine's. X refuses a text that the account posted so shortly before, so the
# same text found within this time is no other post.
CLOCK_DIFFERENCE = timedelta(minutes=5)
POST_LIST_DOCUMENTATION = "users/:id/tweets: the account's 3,200 newest posts, replies and protected posts too"
FIELDS = "attachments,edit_history_tweet_ids,entities,referenced_tweets"

_PROTOCOL = re.compile(r"https?://", re.IGNORECASE)


def check_content_and_return_first_step(content: Content, progress: Progress) -> Progress:
    """Check the thread and the poll of an X post, and return the first step of publishing it.

    The step stores the current time, since which published posts are searched for. Raises ContentRejected.
    """
    raise_if_platform_would_refuse_thread(content, CAPABILITIES, "X")
    polls.raise_if_platform_would_refuse_poll(content, CAPABILITIES, "X")
    state = {"since": timezone.now().isoformat(), "media": [], "described": 0}
    return media.next_media_or_create_step(content.media, progress, state)


def create_next_post(api: Api, content: Content, progress: Progress) -> Progress | Published:
    """Create the X post, or the next post of an X thread. Raises platform errors."""
    with ERRORS.translating_publish_errors(gettext_noop("this post")):
        try:
            post = data_of(api.post("/2/tweets", json=_body(content, progress)))
            return _after_post(api, content, progress, id_of(post))
        except XError as error:
            if not (error.is_duplicate or error.is_about_media):
                raise
            return _after_refusal(api, content, progress, error)


def find_or_rule_out_published_post(
    api: Api, content: Content, progress: Progress
) -> Progress | Published | NotPublishedProof:
    """Find the X post that an interrupted attempt may have created; return proof (a NotPublishedProof) if there is none.

    Raises OutcomeUnknown and what `translating_repeatable_call_errors` raises.
    """
    with ERRORS.translating_repeatable_call_errors():
        found = _earlier_post_id(api, content, progress)
    return found if isinstance(found, NotPublishedProof) else _after_post(api, content, progress, found)


def _body(content: Content, progress: Progress) -> dict[str, Any]:
    sent, state = progress.segments, progress.state
    text = thread_texts_including_first(content)[len(sent)]
    body: dict[str, Any] = {"text": text} if text.strip() else {}
    if sent:
        return {**body, "reply": {"in_reply_to_tweet_id": sent[-1]}}
    if state["media"]:
        body["media"] = {"media_ids": state["media"]}
    if poll := polls.poll_in_options(content.options):
        body["poll"] = {"options": poll["choices"], "duration_minutes": poll["duration_minutes"]}
    return body | {name: content.options[name] for name in FIRST_SEGMENT_OPTIONS if name in content.options}


def _after_refusal(api: Api, content: Content, progress: Progress, refused: XError) -> Progress | Published:
    """After X refused a post for its media or as a duplicate, return the post if it exists, or else the next step.

    The media are uploaded again once, because X deletes them after a day.
    """
    found, state = find_or_rule_out_published_post(api, content, progress), progress.state
    if not isinstance(found, NotPublishedProof):
        return found
    if refused.is_about_media and not state.get("again"):
        return media.next_media_or_create_step(content.media, progress, {**state, "media": [], "described": 0, "again": True})
    if refused.is_duplicate and content.attempt > 1:
        message = gettext_noop("X says that the account has posted this already, but does not list it.")
        raise OutcomeUnknown(message, final=True) from refused
    raise refused


def _after_post(api: Api, content: Content, progress: Progress, post_id: str) -> Progress | Published:
    sent = (*progress.segments, post_id)
    if len(sent) < len(thread_texts_including_first(content)):
        return replace(progress, segments=sent).with_next_step("create", progress.state)
    # X finds posts by id, so the URL stays valid if the user name changes.
    return Published(sent[0], f"{SITE}/{api.username}/status/{sent[0]}")


def _earlier_post_id(api: Api, content: Content, progress: Progress) -> str | NotPublishedProof:
    """Search for the X post that an interrupted attempt has created. Returns its id, or a NotPublishedProof.

    Raises OutcomeUnknown if this cannot be decided, XError, NotSent, SentWithoutAnswer.
    """
    sent, state = progress.segments, progress.state
    text = thread_texts_including_first(content)[len(sent)]
    parent, media_ids = (sent[-1], []) if sent else (None, sorted(state["media"]))
    with_poll = parent is None and polls.poll_in_options(content.options) is not None
    newer = {"since_id": parent} if parent else {"start_time": _start_time(state["since"])}
    is_doubtful = False
    for post in _posts(api, newer):
        if _references(post).get("replied_to") != parent or sorted(_media_of(post)) != media_ids:
            continue
        sent_text, has_poll = _text_as_sent(post), bool(_attached(post, "poll_ids"))
        if has_poll and not with_poll:
            continue
        if with_poll and not has_poll:  # another post, or this one with its poll missing in the response or refused
            is_doubtful |= _letters(sent_text) == _letters(text)
            continue
        if media_ids or _comparable(sent_text) == _comparable(text):
            return id_of(post)
        # X or the account's owner may have changed the text, so that the original cannot be compared.
        is_doubtful |= _letters(sent_text) == _letters(text) or len(_list(post.get("edit_history_tweet_ids"))) > 1
    if is_doubtful:
        raise OutcomeUnknown(gettext_noop("The account has a post that may be this one with changes."), final=True)
    return NotPublishedProof(
        MissingFromListProof(back_to=parent or newer["start_time"], kind_evidence=POST_LIST_DOCUMENTATION)
    )


def _posts(api: Api, newer: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """List the X account's posts, newest first. Raises OutcomeUnknown if there are too many to read."""
    params = {"max_results": str(PAGE_SIZE), "exclude": "retweets", "tweet.fields": FIELDS, **newer}
    for _ in range(MAX_PAGES):
        page = api.get(f"/2/users/{api.account_id}/tweets", params)
        meta, posts = object_or_empty(page.get("meta")), objects_in(page.get("data"))
        # A response without a count does not mean that there are no posts; one with errors may lack posts.
        if meta.get("result_count") != len(posts) or page.get("errors"):
            raise UnreadableAnswer("The response is not a list of posts.")
        yield from posts
        if not meta.get("next_token"):
            return
        params["pagination_token"] = str(meta["next_token"])
    raise OutcomeUnknown(gettext_noop("The account has too many new posts to find out whether this post exists."), final=True)


def _start_time(since: str) -> str:
    moment = datetime.fromisoformat(since).astimezone(UTC) - CLOCK_DIFFERENCE
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _references(post: Mapping[str, Any]) -> dict[Any, Any]:
    """Return the ids of the posts that an X post refers to, by the type of reference (replied_to, quoted)."""
    return {each.get("type"): each.get("id") for each in objects_in(post.get("referenced_tweets"))}


def _media_of(post: Mapping[str, Any]) -> list[str]:
    """Return the ids of an X post's media, which are the ends of its media keys."""
    return [str(key).rpartition("_")[2] for key in _attached(post, "media_keys")]


def _attached(post: Mapping[str, Any], name: str) -> list[Any]:
    """Return the media keys or poll ids that X lists among the attachments of an X post."""
    return _list(object_or_empty(post.get("attachments")).get(name))


def _text_as_sent(post: Mapping[str, Any]) -> str:
    """Return an X post's text as it was sent: HTML escapes undone, and X's short links replaced by the original links."""
    text = html.unescape(str(post.get("text")))
    for url in objects_in(object_or_empty(post.get("entities")).get("urls")):
        short, original = url.get("url"), url.get("expanded_url")
        if isinstance(short, str) and short and isinstance(original, str):
            text = text.replace(short, original)
    return text


def _comparable(text: str) -> str:
    """Return an X post's text without white space and https://, to compare it with the text of the searched post."""
    return "".join(unicodedata.normalize("NFC", _PROTOCOL.sub("", text)).split())


def _letters(text: str) -> str:
    """Return the letters and digits in the text of an X post, for the search for a published post.

    A text without any is returned without white space.
    """
    folded = unicodedata.normalize("NFKC", _comparable(text)).casefold()
    return "".join(char for char in folded if char.isalnum()) or _comparable(text)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
