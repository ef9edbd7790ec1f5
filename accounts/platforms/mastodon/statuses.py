"""Making a status, and what every answer to that means. Source: docs.joinmastodon.org, methods/statuses."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from accounts.platforms.chains import OPTION as THREAD
from accounts.platforms.chains import segments
from accounts.platforms.errors import ContentRejected, OutcomeUnknown, Transient
from accounts.platforms.mastodon import lookup, media
from accounts.platforms.mastodon.account import url
from accounts.platforms.mastodon.client import (
    REFUSALS,
    MastodonError,
    Server,
    entity_id,
    platform_error,
    platform_errors,
)
from accounts.platforms.polls import OPTION as POLL
from accounts.platforms.polls import poll_of
from accounts.platforms.types import Absent, Content, Progress, Published
from config.outbound import NoAnswer, NotSent

OF_ALL = ("visibility", "spoiler_text", "language")  # the options that hold for every segment


def begin(server: Server, content: Content) -> Progress:
    """The first step's end: a key for all tries of this round, and the point after which the status would stand.

    The key is new in each round, since a person who retries a failed post wants another status. Raises MastodonError,
    OutboundError.
    """
    state: dict[str, Any] = {
        "key": f"{content.key}-{secrets.token_hex(8)}",
        "after": _newest_status(server),
        "media": [],
        "pending": [],
        "looks": 0,
        "sent": [],
    }
    return Progress("upload" if content.media else "create", state)


def _newest_status(server: Server) -> str | None:
    """As lookup.newest_status, and None where the token does not let us look."""
    try:
        return lookup.newest_status(server)
    except MastodonError as error:
        if error.status == 403 and error.message:
            return None
        raise


def create(server: Server, content: Content, state: Mapping[str, Any]) -> Progress | Published:
    """Make the status of the next segment, which most often is the only one. Mastodon itself remembers the key for an hour
    and answers the status that it made for it. Other servers ignore the key, so nothing here relies on it.

    Raises platform errors.
    """
    sent = state.get("sent", [])
    key = f"{state['key']}-{len(sent)}" if sent else state["key"]
    try:
        made = server.post("/api/v1/statuses", json=_body(content, state), headers={"Idempotency-Key": key}).one()
        return _following(content, state, made)
    except NotSent as error:
        raise platform_error(error) from error
    except NoAnswer as error:
        raise OutcomeUnknown("The account's server did not say whether it took the post.") from error
    except MastodonError as error:
        if error.status >= 500:
            raise OutcomeUnknown(
                f"The account's server answered {error.status} and may have taken the post."
            ) from error
        parent_gone = error.status == 404 and error.message and sent
        if error.status not in REFUSALS and not parent_gone:
            raise platform_error(error) from error
        return _settle_refusal(server, content, state, error)


def find(server: Server, content: Content, state: Mapping[str, Any]) -> Progress | Published | Absent:
    """What follows when an earlier try of `create` has made its status; Absent when it certainly has not.

    Raises OutcomeUnknown, MastodonError, OutboundError.
    """
    found = lookup.find(server, content, state)
    return found if isinstance(found, Absent) else _following(content, state, found)


def _body(content: Content, state: Mapping[str, Any]) -> dict[str, Any]:
    sent = state.get("sent", [])
    text = segments(content)[len(sent)]
    if not sent:
        options = {name: value for name, value in content.options.items() if name not in (THREAD, POLL)}
        return {"status": text, "media_ids": state["media"], **options, **_poll(content)}
    options = {name: content.options[name] for name in OF_ALL if name in content.options}
    return {"status": text, "in_reply_to_id": sent[-1], **options}


def _poll(content: Content) -> dict[str, Any]:
    """The poll as the server takes it; nothing for a post without one."""
    if (poll := poll_of(content.options)) is None:
        return {}
    switches = {name: poll[name] for name in ("multiple", "hide_totals") if name in poll}
    return {"poll": {"options": poll["choices"], "expires_in": poll["duration_minutes"] * 60, **switches}}


def _following(content: Content, state: Mapping[str, Any], status: Mapping[str, Any]) -> Progress | Published:
    """What follows a status of ours. Raises UnreadableAnswer."""
    sent = [*state.get("sent", []), entity_id(status)]
    permalink = state.get("permalink") or url(status.get("url")) or url(status.get("uri"))
    if len(sent) < len(segments(content)):
        return Progress("create", {**state, "media": [], "sent": sent, "permalink": permalink})
    return Published(sent[0], permalink)


def _settle_refusal(
    server: Server, content: Content, state: Mapping[str, Any], refusal: MastodonError
) -> Progress | Published:
    """What a refusal comes to: the words of it are in the server's own language, so the media tell what is behind it.

    Media that are gone were taken up by a status, which must then be ours, or removed since, and are uploaded once more.
    """
    with platform_errors():
        standings = {media.standing(server, identifier) for identifier in state["media"]}
        if "processing" in standings:
            raise Transient("The server has not finished processing the media.")
        if "gone" in standings:
            following = find(server, content, state)
            if not isinstance(following, Absent):
                return following
            if not state.get("again"):
                return Progress("upload", {**state, "media": [], "pending": [], "again": True})
    raise ContentRejected(f"The server does not take this post: {refusal.message or 'no reason given'}") from refusal
