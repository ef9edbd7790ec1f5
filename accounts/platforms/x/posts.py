"""Publishing an X post or the next segment of a thread. Source: docs.x.com, POST /2/tweets.

X has no idempotency key. It refuses a text that the account posted shortly before, so such a refusal may mean that an
earlier attempt has published the post.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from accounts.platforms import polls
from accounts.platforms.chains import check, segments
from accounts.platforms.errors import OutcomeUnknown
from accounts.platforms.types import Absent, Content, Progress, Published
from accounts.platforms.x import lookup, media
from accounts.platforms.x.capabilities import CAPABILITIES
from accounts.platforms.x.client import ERRORS, SITE, Api, XError, data_of, id_of

FIRST_SEGMENT_OPTIONS = ("reply_settings", "made_with_ai", "paid_partnership")


def begin(content: Content) -> Progress:
    """Begin an X publication: check the thread and the poll, and store the time. Raises ContentRejected."""
    check(content, CAPABILITIES, "X")
    polls.check(content, CAPABILITIES, "X")
    state = {"since": timezone.now().isoformat(), "media": [], "described": 0, "sent": []}
    return media.next_step(content.media, state)


def create(api: Api, content: Content, state: Mapping[str, Any]) -> Progress | Published:
    """Publish the post, or the next segment of a thread, at X. Raises platform errors."""
    with ERRORS.publish_errors("this post"):
        try:
            post = data_of(api.post("/2/tweets", json=_body(content, state)))
            return _after_post(api, content, state, id_of(post))
        except XError as error:
            if not (error.is_duplicate or error.is_about_media):
                raise
            return _after_refusal(api, content, state, error)


def find(api: Api, content: Content, state: Mapping[str, Any]) -> Progress | Published | Absent:
    """The step after `create` if an earlier attempt has published the X post; Absent if it certainly has not.

    Raises OutcomeUnknown and what `platform_errors` raises.
    """
    with ERRORS.platform_errors():
        found = lookup.find(api, content, state)
    return found if isinstance(found, Absent) else _after_post(api, content, state, found)


def _body(content: Content, state: Mapping[str, Any]) -> dict[str, Any]:
    text = segments(content)[len(state["sent"])]
    body: dict[str, Any] = {"text": text} if text.strip() else {}
    if state["sent"]:
        return {**body, "reply": {"in_reply_to_tweet_id": state["sent"][-1]}}
    if state["media"]:
        body["media"] = {"media_ids": state["media"]}
    if poll := polls.poll_of(content.options):
        body["poll"] = {"options": poll["choices"], "duration_minutes": poll["duration_minutes"]}
    return body | {name: content.options[name] for name in FIRST_SEGMENT_OPTIONS if name in content.options}


def _after_refusal(api: Api, content: Content, state: Mapping[str, Any], refused: XError) -> Progress | Published:
    """The step after X has refused a duplicate, or a post for its media: an earlier attempt may have published it.

    The media are uploaded again once, because X deletes them after a day.
    """
    found = find(api, content, state)
    if not isinstance(found, Absent):
        return found
    if refused.is_about_media and not state.get("again"):
        return media.next_step(content.media, {**state, "media": [], "described": 0, "again": True})
    if refused.is_duplicate and content.attempt > 1:
        message = "X says that the account has posted this already, but does not list it."
        raise OutcomeUnknown(message, final=True) from refused
    raise refused


def _after_post(api: Api, content: Content, state: Mapping[str, Any], post_id: str) -> Progress | Published:
    sent = [*state["sent"], post_id]
    if len(sent) < len(segments(content)):
        return Progress("create", {**state, "sent": sent})
    # X finds posts by id, so the URL stays valid if the user name changes.
    return Published(sent[0], f"{SITE}/{api.username}/status/{sent[0]}")
