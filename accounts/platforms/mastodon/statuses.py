"""The steps that create a Mastodon status, and what each response means. Source: docs.joinmastodon.org, methods/statuses."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.errors import ContentRejected, Transient
from accounts.platforms.mastodon import lookup, media
from accounts.platforms.mastodon.client import ERRORS, MastodonError, ServerClient, entity_id, http_url_or_empty
from accounts.platforms.polls import OPTION_NAME as POLL
from accounts.platforms.polls import poll_in_options
from accounts.platforms.thread_option import OPTION_NAME as THREAD
from accounts.platforms.thread_option import thread_texts_including_first
from accounts.platforms.types import Content, NotPublishedProof, Progress, Published

SEGMENT_OPTIONS = ("visibility", "spoiler_text", "language")  # the options that apply to every segment


def first_step_with_idempotency_key(server: ServerClient, content: Content) -> Progress:
    """Begin to publish Mastodon statuses: choose an idempotency key and store the id of the account's newest status.

    Raises MastodonError, OutboundError.

    All attempts of a publication share the key. A retry by a person has a new one, because it wants another status.
    """
    state: dict[str, Any] = {
        "key": f"{content.key}-{secrets.token_hex(8)}",
        "after": _newest_status(server),
        "media": [],
        "pending": [],
        "looks": 0,
    }
    return Progress("upload" if content.media else "create", state)


def create_status(server: ServerClient, content: Content, progress: Progress) -> Progress | Published:
    """Create the next Mastodon status of a publication: the only one, or the next one of a thread.

    For an hour Mastodon answers a repeated key with the status that it has created. Other servers ignore the key, so nothing
    here relies on it.
    """
    sent, key = progress.segments, progress.state["key"]
    if sent:
        key = f"{key}-{len(sent)}"
    with ERRORS.translating_publish_errors(gettext_noop("this post")):
        try:
            status = server.post("/api/v1/statuses", json=_body(content, progress), headers={"Idempotency-Key": key})
            return _next_step(content, progress, status)
        except MastodonError as error:
            parent_gone = error.status == 404 and error.from_api and sent
            if not ERRORS.means_content_rejected(error) and not parent_gone:
                raise
            refusal = error
    return _after_refusal(server, content, progress, refusal)


def find_or_rule_out_created_status(
    server: ServerClient, content: Content, progress: Progress
) -> Progress | Published | NotPublishedProof:
    """Find the Mastodon status that an interrupted attempt created: return the next step, or a proof that none exists.

    Raises OutcomeUnknown, MastodonError, OutboundError.
    """
    found = lookup.find_possibly_created_status(server, content, progress)
    return found if isinstance(found, NotPublishedProof) else _next_step(content, progress, found)


def _newest_status(server: ServerClient) -> str | None:
    """Return the id of the account's newest status before a Mastodon status is created; None if reading is forbidden."""
    try:
        return lookup.fetch_newest_status_id(server)
    except MastodonError as error:
        if error.status == 403 and error.from_api:
            return None
        raise


def _body(content: Content, progress: Progress) -> dict[str, Any]:
    sent = progress.segments
    text = thread_texts_including_first(content)[len(sent)]
    if sent:
        options = {name: content.options[name] for name in SEGMENT_OPTIONS if name in content.options}
        return {"status": text, "in_reply_to_id": sent[-1], **options}
    options = {name: value for name, value in content.options.items() if name not in (THREAD, POLL)}
    if (poll := poll_in_options(content.options)) is not None:
        switches = {name: poll[name] for name in ("multiple", "hide_totals") if name in poll}
        options["poll"] = {"options": poll["choices"], "expires_in": poll["duration_minutes"] * 60, **switches}
    return {"status": text, "media_ids": progress.state["media"], **options}


def _next_step(content: Content, progress: Progress, status: Mapping[str, Any]) -> Progress | Published:
    """Return the step that creates a thread's next Mastodon status or, after the last, the published post."""
    sent = (*progress.segments, entity_id(status))
    permalink = (
        progress.state.get("permalink") or http_url_or_empty(status.get("url")) or http_url_or_empty(status.get("uri"))
    )
    if len(sent) < len(thread_texts_including_first(content)):
        state = {**progress.state, "media": [], "permalink": permalink}
        return replace(progress, segments=sent).with_next_step("create", state)
    return Published(sent[0], permalink)


def _after_refusal(
    server: ServerClient, content: Content, progress: Progress, refusal: MastodonError
) -> Progress | Published:
    """Handle a Mastodon server's refusal of a status: return the status if it exists, upload lost media again, or raise.

    The refusal's text is in the server's own language, so the state of the media shows its cause. Media that are gone were
    used by a status of an earlier attempt, or removed by the server and are uploaded once more.
    """
    state = progress.state
    with ERRORS.translating_repeatable_call_errors():
        statuses = {media.fetch_processing_status(server, identifier) for identifier in state["media"]}
        if "processing" in statuses:
            raise Transient(gettext_noop("The server has not finished processing the media."))
        if "gone" in statuses:
            found = find_or_rule_out_created_status(server, content, progress)
            if not isinstance(found, NotPublishedProof):
                return found
            if not state.get("again"):
                return progress.with_next_step("upload", {**state, "media": [], "pending": [], "again": True})
    raise ContentRejected(f"{ERRORS.label} does not accept this post: {refusal.reason}") from refusal
