"""Instagram containers: unpublished posts that Instagram prepares from the text and from files that it fetches by URL.

Each file is a container; a carousel is a container for each file, and one for all. A container lasts a day and can be
published once. It is not visible before, so every step here may be repeated. Sources: developers.facebook.com,
instagram-platform/content-publishing, ig-user/media, ig-container, ig-user/content_publishing_limit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_noop

from accounts.platforms.errors import ContentRejected, PlatformError, RateLimited, Transient
from accounts.platforms.http.responses import NO_REASON, UnreadableAnswer, line_without_tokens, object_or_empty
from accounts.platforms.instagram.errors import ERRORS
from accounts.platforms.meta.errors import daily_limit_backoff_seconds
from accounts.platforms.meta.graph import GraphClientAndAccountId, id_of, listed_objects
from accounts.platforms.processing import step_to_check_later_or_raise
from accounts.platforms.types import Content, MediaFile, Progress, State

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 3.0, 60.0  # between checks whether a container is ready
MAX_CHECKS = 60  # about an hour
MAX_CONTAINER_ROUNDS = 3  # how often all containers are created
CONTAINER_STATUSES = frozenset({"IN_PROGRESS", "FINISHED", "ERROR", "EXPIRED", "PUBLISHED"})

_SUBCODE = re.compile(r"\b22070?\d\d\d?\b")


def state_for_container_round(number: int) -> dict[str, Any]:
    """Return the state in which an Instagram post begins its `number`th round of creating containers (unpublished posts)."""
    return {"since": timezone.now().isoformat(), "round": number, "children": [], "looks": 0}


def create_next_file_container(account: GraphClientAndAccountId, content: Content, progress: Progress) -> Progress:
    """Create an Instagram container (unpublished post) for the next file; before the first, check the daily quota.

    All steps here raise ContentRejected, TokenExpired, ReauthRequired, ConnectionUnavailable, RateLimited and Transient.
    """
    files, state = content.media, progress.state
    children = state["children"]
    if not children:
        _check_quota(account, content.attempt)
    file = files[len(children)]
    form = _file_form(content, file) if len(files) > 1 else {**_file_form(content, file), **_post_form(content)}
    container = _create(account, form, file.filename or gettext_noop("the file"))
    if len(files) == 1:
        return progress.with_next_step("process", {**state, "container": container, "pending": [container]})
    children = [*children, container]
    if len(children) < len(files):
        return progress.with_next_step("container", {**state, "children": children})
    return progress.with_next_step("process", {**state, "children": children, "pending": children})


def create_carousel_container(account: GraphClientAndAccountId, content: Content, progress: Progress) -> Progress:
    """Create the container (unpublished post) of an Instagram carousel from the containers of the carousel's files."""
    state = progress.state
    form = {"media_type": "CAROUSEL", "children": ",".join(state["children"]), **_post_form(content)}
    container = _create(account, form, gettext_noop("this carousel"))
    return progress.with_next_step("process", {**state, "container": container, "pending": [container], "looks": 0})


def check_containers(account: GraphClientAndAccountId, content: Content, progress: Progress) -> Progress:
    """Ask Instagram whether the post's containers (unpublished posts) are ready to be published."""
    pending, state = [], progress.state
    for container in state["pending"]:
        status, reason = fetch_container_status(account, container)
        if status == "EXPIRED":
            return step_that_recreates_containers(progress, "the media expired.")
        if status == "ERROR":
            return _after_failure(progress, reason)
        if status == "IN_PROGRESS":
            pending.append(container)
    if pending:
        return step_to_check_later_or_raise_transient(progress, {**state, "pending": pending})
    return progress.with_next_step("create" if "container" in state else "gather", {**state, "pending": []})


def step_that_recreates_containers(progress: Progress, reason: str) -> Progress:
    """Return the publishing step that creates an Instagram post's containers (unpublished posts) again.

    Raises ContentRejected after MAX_CONTAINER_ROUNDS.
    """
    rounds = progress.state["round"]
    if rounds >= MAX_CONTAINER_ROUNDS:
        raise ContentRejected(f"Instagram could not prepare the post: {reason}")
    return progress.with_next_step("container", state_for_container_round(rounds + 1))


def step_to_check_later_or_raise_transient(progress: Progress, state: State) -> Progress:
    """Return the next step, which asks Instagram later whether the container (unpublished post) is ready.

    Raises Transient after MAX_CHECKS, so that the attempt fails and is repeated later.
    """
    return step_to_check_later_or_raise(
        progress,
        "process",
        state,
        first=FIRST_PAUSE_SECONDS,
        longest=LONGEST_PAUSE_SECONDS,
        max_checks=MAX_CHECKS,
        timeout=Transient(gettext_noop("Instagram has not finished processing the media.")),
    )


def fetch_container_status(account: GraphClientAndAccountId, container: str) -> tuple[str, str]:
    """Return the status of an Instagram container (unpublished post), and why it failed. Raises TokenExpired, Transient."""
    with ERRORS.translating_repeatable_call_errors():
        answer = account.graph.get(f"/{container}", {"fields": "status_code,status"})
        status = answer.get("status_code")
        if not isinstance(status, str) or status not in CONTAINER_STATUSES:
            raise UnreadableAnswer("The response has no status of the container.")
    return status, line_without_tokens(answer.get("status")) or NO_REASON


def _check_quota(account: GraphClientAndAccountId, attempt: int) -> None:
    """Raise RateLimited before a post's first Instagram container if the account's daily quota of posts is used up.

    If the quota cannot be read, nothing is raised.
    """
    quota: dict[str, Any] = {}
    with suppress(PlatformError), ERRORS.translating_repeatable_call_errors():
        answer = account.graph.get(f"/{account.id}/content_publishing_limit", {"fields": "config,quota_usage"})
        quota = next(iter(listed_objects(answer)), {})
    used, total = quota.get("quota_usage"), object_or_empty(quota.get("config")).get("quota_total")
    if type(used) is int and type(total) is int and used >= total:
        raise RateLimited(
            f"Instagram lets the account publish {total} posts in 24 hours, and it has published {used}.",
            retry_after=daily_limit_backoff_seconds(attempt),
        )


def _create(account: GraphClientAndAccountId, form: Mapping[str, str], what: str) -> str:
    with ERRORS.translating_content_call_errors(what):
        return id_of(account.graph.post_form(f"/{account.id}/media", form))


def _after_failure(progress: Progress, reason: str) -> Progress:
    """After Instagram failed to prepare a container, create it again if the error is temporary, or raise ContentRejected."""
    subcode = _SUBCODE.search(reason)
    if subcode and ERRORS.meanings.get(int(subcode[0])) == "transient":
        return step_that_recreates_containers(progress, reason)
    raise ContentRejected(f"Instagram could not process the media: {reason}")


def _file_form(content: Content, file: MediaFile) -> dict[str, str]:
    """Return the form that creates an Instagram container for a file, as a post of its own or as part of a carousel."""
    is_single, is_story = len(content.media) == 1, content.options.get("post_type") == "story"
    in_carousel = {} if is_single else {"is_carousel_item": "true"}
    if file.kind == "video":
        media_type = "STORIES" if is_story else "REELS" if is_single else "VIDEO"
        return {"media_type": media_type, "video_url": file.url, **in_carousel}
    alt_text = {"alt_text": file.alt_text} if file.alt_text and not is_story else {}
    return {"image_url": file.url, **({"media_type": "STORIES"} if is_story else {}), **alt_text, **in_carousel}


def _post_form(content: Content) -> dict[str, str]:
    """Return the form fields of an Instagram container that describe the post, such as the caption; empty for stories."""
    options = content.options
    if options.get("post_type") == "story":
        return {}
    form = {"caption": content.text} if content.text.strip() else {}
    given = [name for name in ("collaborators", "share_to_feed", "thumb_offset") if name in options]
    return form | {name: json.dumps(options[name]) for name in given}
