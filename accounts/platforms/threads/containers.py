"""Threads containers: unpublished posts that Threads prepares from the text and from files that it fetches by URL.

A container is not visible and expires after a day, so creating one may be repeated. Once it is published its status says so.
Source: developers.facebook.com/docs/threads (posts, carousels, troubleshooting).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.utils.translation import gettext_noop

from accounts.platforms.errors import ContentRejected, Transient, report_unknown_error_code
from accounts.platforms.http.responses import NO_REASON, UnreadableAnswer, line_without_tokens
from accounts.platforms.meta.errors import GraphError
from accounts.platforms.meta.graph import GraphClientAndAccountId, id_of
from accounts.platforms.processing import step_to_check_later_or_raise
from accounts.platforms.thread_option import thread_texts_including_first
from accounts.platforms.threads.errors import ERRORS, UNKNOWN_CONTAINER
from accounts.platforms.types import Content, MediaFile, Progress, State

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 5, 60  # between checks whether a container is ready
MAX_CHECKS = 31  # half an hour
MAX_CHECKS_OF_UNKNOWN_CONTAINER = 3  # of a container that was created just now, which Threads may not find yet
MAX_CONTAINER_REPETITIONS = 2  # how often the containers of a segment are created again
FIRST_SEGMENT_OPTIONS = ("reply_control", "topic_tag", "link_attachment")
NO_SUCH_OBJECT_CODES = (100, 33)
CONTAINER_STATUSES = frozenset({"FINISHED", "IN_PROGRESS", "ERROR", "EXPIRED", "PUBLISHED"})
# Besides Threads' own statuses: UNKNOWN if Threads does not find the container, A_POST if the id is that of a post.
PUBLISHED_STATUSES = frozenset({"PUBLISHED", "A_POST"})


def create_next_container(account: GraphClientAndAccountId, content: Content, progress: Progress) -> Progress:
    """Create the next Threads container (unpublished post): for one file of a carousel, or for a whole post.

    Raises ContentRejected, TokenExpired, ReauthRequired, ConnectionUnavailable, Transient.
    """
    state, files = progress.state, () if progress.segments else content.media
    children = [*state.get("children", ())]
    if len(children) < len(files) > 1:
        file = files[len(children)]
        children.append(
            _create(account, {**_file_form(file), "is_carousel_item": "true"}, file.filename or gettext_noop("the file"))
        )
        state = {**state, "children": children}
        is_last = len(children) == len(files)
        return (
            step_to_check_later_or_raise_transient(progress, state, children)
            if is_last
            else progress.with_next_step("container", state)
        )
    form = _segment_form(content, files, children, progress.segments)
    container = _create(account, form, gettext_noop("this post"))
    state = {**state, "container": container}
    if form["media_type"] == "TEXT":  # usually ready at once, so the first check has no pause before it
        return progress.with_next_step("wait", {**state, "waiting": [container], "looks": 1})
    return step_to_check_later_or_raise_transient(progress, state, [container])


def check_containers(account: GraphClientAndAccountId, progress: Progress) -> Progress | None:
    """Ask Threads whether a post's containers (unpublished posts) are ready; returns None if it is published already."""
    state, waiting = progress.state, [*progress.state["waiting"]]
    while waiting:
        with ERRORS.translating_repeatable_call_errors():
            status, reason = fetch_container_status(account, waiting[0])
        if status in PUBLISHED_STATUSES and waiting[0] == state.get("container"):
            return None
        if status == "IN_PROGRESS" or (status == "UNKNOWN" and state["looks"] <= MAX_CHECKS_OF_UNKNOWN_CONTAINER):
            return step_to_check_later_or_raise_transient(progress, state, waiting)
        if status == "ERROR" and not reason.startswith("FAILED_DOWNLOADING"):
            raise ContentRejected(f"Threads could not process the post: {_explanation(reason)}")
        if status != "FINISHED" and status not in PUBLISHED_STATUSES:
            return step_that_recreates_containers(
                progress, f"Threads could not prepare the post: {_explanation(reason or status)}"
            )
        waiting.pop(0)
    state = {name: value for name, value in state.items() if name not in ("waiting", "looks")}
    return progress.with_next_step("publish" if "container" in state else "container", state)


def fetch_container_status(account: GraphClientAndAccountId, container: str) -> tuple[str, str]:
    """Ask Threads for the status of a container (unpublished post) and, if the container failed, the reason.

    Raises GraphError, OutboundError.
    """
    try:
        answer = account.graph.get(f"/{container}", {"fields": "status,error_message"})
    except GraphError as error:
        if error.subcode == UNKNOWN_CONTAINER or (error.number, error.subcode) == NO_SUCH_OBJECT_CODES:
            return "UNKNOWN", ""
        if error.number == 100 and "nonexisting field (status)" in error.reason:
            return "A_POST", ""
        raise
    status = line_without_tokens(answer.get("status"))
    if status not in CONTAINER_STATUSES:
        report_unknown_error_code("threads", f"container status {status}")
        raise UnreadableAnswer("The response has no status.")
    return status, line_without_tokens(answer.get("error_message"))


def step_to_check_later_or_raise_transient(progress: Progress, state: State, waiting: Sequence[str]) -> Progress:
    """Return the step that asks Threads later whether containers (unpublished posts) are ready.

    Raises Transient after MAX_CHECKS.
    """
    return step_to_check_later_or_raise(
        progress,
        "wait",
        {**state, "waiting": [*waiting]},
        first=FIRST_PAUSE_SECONDS,
        longest=LONGEST_PAUSE_SECONDS,
        max_checks=MAX_CHECKS,
        timeout=Transient(gettext_noop("Threads has not finished processing the post.")),
    )


def step_that_recreates_containers(progress: Progress, reason: str) -> Progress:
    """Return the publishing step that creates a Threads post's containers again from the beginning.

    Raises ContentRejected after MAX_CONTAINER_REPETITIONS.
    """
    repetitions = progress.state.get("anew", 0)
    if repetitions >= MAX_CONTAINER_REPETITIONS:
        raise ContentRejected(
            reason, suggested_action=gettext_noop("Make sure that the media can be fetched, then make a new post.")
        )
    return progress.with_next_step("container", {"since": progress.state["since"], "anew": repetitions + 1})


def _create(account: GraphClientAndAccountId, form: Mapping[str, str], what: str) -> str:
    with ERRORS.translating_content_call_errors(what):
        try:
            return id_of(account.graph.post_form(f"/{account.id}/threads", form))
        except GraphError as error:
            if "reply_to_id" in form and (error.number, error.subcode) == NO_SUCH_OBJECT_CODES:
                raise Transient(gettext_noop("Threads does not know the previous segment yet.")) from error
            raise


def _segment_form(
    content: Content, files: Sequence[MediaFile], children: Sequence[str], sent: Sequence[str]
) -> dict[str, str]:
    text = thread_texts_including_first(content)[len(sent)]
    form = {"text": text} if text.strip() else {}
    if sent:
        return {"media_type": "TEXT", **form, "reply_to_id": sent[-1]}
    form |= {name: content.options[name] for name in FIRST_SEGMENT_OPTIONS if name in content.options}
    if len(files) > 1:
        return {"media_type": "CAROUSEL", "children": ",".join(children), **form}
    return {**_file_form(files[0]), **form} if files else {"media_type": "TEXT", **form}


def _file_form(file: MediaFile) -> dict[str, str]:
    kind = "video" if file.kind == "video" else "image"
    alt_text = {"alt_text": file.alt_text} if file.alt_text else {}
    return {"media_type": kind.upper(), f"{kind}_url": file.url, **alt_text}


def _explanation(reason: str) -> str:
    return NO_REASON if reason in ("", "UNKNOWN") else reason
