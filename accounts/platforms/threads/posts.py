"""The steps that publish a Threads post or a chain of posts, and that find published posts.

A container can be published once, and its status says whether it was. For a while after it was created, Threads may answer
that the container does not exist, as clients report; the service then asks again. A published segment is recognized by its
text and kind, a further segment also by the post that it replies to. Source: developers.facebook.com/docs/threads (posts,
replies, troubleshooting, retrieve posts, retrieve replies).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_noop

from accounts.platforms.errors import ContentRejected, OutcomeUnknown, Transient
from accounts.platforms.http.responses import https_url_or_empty, object_or_empty
from accounts.platforms.meta.errors import GraphError
from accounts.platforms.meta.graph import (
    GraphClientAndAccountId,
    earliest_possible_creation_time,
    id_of,
    is_same_text,
    time_field_or_none,
)
from accounts.platforms.option_media import raise_if_options_do_not_fit_media
from accounts.platforms.thread_option import raise_if_platform_would_refuse_thread, thread_texts_including_first
from accounts.platforms.threads import containers
from accounts.platforms.threads.capabilities import CAPABILITIES, MAX_LINKS, count_different_links
from accounts.platforms.threads.errors import ERRORS, UNKNOWN_CONTAINER
from accounts.platforms.types import Content, MediaFile, NotPublishedProof, Progress, Published, UploadNotPublishedProof

PAGE_SIZE, MAX_PAGES = "100", 3  # of the list of a profile's posts
MAX_TIMES_NOT_FOUND = 4  # how often Threads may not find a container that it called ready; two and a half minutes


def check_content_and_return_first_step(account: GraphClientAndAccountId, content: Content, progress: Progress) -> Progress:
    """Begin to publish a Threads post: check its content, and return the first publishing step.

    The step stores the current time, since which published posts are searched for. Raises ContentRejected.
    """
    raise_if_platform_would_refuse_thread(content, CAPABILITIES, "Threads")
    raise_if_options_do_not_fit_media(content, CAPABILITIES.option_media)
    attached = content.options.get("link_attachment", "")
    if count_different_links(f"{content.text}\n{attached}") > MAX_LINKS:
        raise ContentRejected(f"Threads accepts {MAX_LINKS} different links in a post, including `link_attachment`.")
    return progress.with_next_step("container", {"since": timezone.now().isoformat()})


def check_segment_containers(account: GraphClientAndAccountId, content: Content, progress: Progress) -> Progress:
    """Return the next step of a Threads post: wait until it is prepared, publish it, or continue the chain of posts.

    Raises platform errors.
    """
    return containers.check_containers(account, progress) or _after_segment(
        content, progress, _id_of_published(account, content, progress)
    )


def publish_container(account: GraphClientAndAccountId, content: Content, progress: Progress) -> Progress:
    """Publish a Threads post or the next post of a chain, once Threads has prepared its text and files.

    Raises platform errors.
    """
    with ERRORS.translating_publish_errors(gettext_noop("this post")):
        try:
            form = {"creation_id": progress.state["container"]}
            return _after_segment(content, progress, id_of(account.graph.post_form(f"/{account.id}/threads_publish", form)))
        except GraphError as error:
            if error.subcode != UNKNOWN_CONTAINER:
                raise
            return _after_miss(progress)


def find_or_rule_out_published_post(
    account: GraphClientAndAccountId, content: Content, progress: Progress
) -> Progress | NotPublishedProof:
    """Find the Threads post that an interrupted attempt may have published; if there is none, return a proof of that.

    A profile's list without the post proves nothing. Raises OutcomeUnknown, TokenExpired, ReauthRequired, Transient.
    """
    with ERRORS.translating_repeatable_call_errors():
        status, _ = containers.fetch_container_status(account, progress.state["container"])
    if status in containers.PUBLISHED_STATUSES:
        return _after_segment(content, progress, _id_of_published(account, content, progress))
    if status == "IN_PROGRESS":  # the container was ready before the attempt to publish it
        raise Transient(gettext_noop("Threads is still publishing the post."))
    if status != "UNKNOWN":
        return NotPublishedProof(UploadNotPublishedProof(f"the container is {status}"))
    found = _find_segment(account, content, progress)
    if found is None:
        raise OutcomeUnknown(gettext_noop("Threads no longer knows whether the post was published."), final=True)
    return _after_segment(content, progress, found)


def fetch_permalink_and_finish(account: GraphClientAndAccountId, content: Content, progress: Progress) -> Published:
    """Take the last step of publishing a Threads post: ask for its URL; without a URL it counts as published, too.

    Raises platform errors about the URL.
    """
    post = progress.published
    assert post  # noqa: S101 - the step before has published the post
    with ERRORS.translating_repeatable_call_errors():
        address = https_url_or_empty(account.graph.get(f"/{post.external_id}", {"fields": "id,permalink"}).get("permalink"))
    return Published(
        post.external_id, address, note="" if address else gettext_noop("Threads does not say where the post is shown.")
    )


def _after_miss(progress: Progress) -> Progress:
    """Return the step after Threads did not find a post's container (unpublished post): ask later, or create it again."""
    state = progress.state
    misses = state.get("misses", 0) + 1
    if misses > MAX_TIMES_NOT_FOUND:
        return containers.step_that_recreates_containers(
            progress, gettext_noop("Threads does not know the container that it called ready.")
        )
    return containers.step_to_check_later_or_raise_transient(
        progress, {**state, "misses": misses, "looks": misses}, [state["container"]]
    )


def _id_of_published(account: GraphClientAndAccountId, content: Content, progress: Progress) -> str:
    """Return the id of a Threads post that an earlier attempt has already published.

    For the last post of a chain this may be the container's id.
    """
    if progress.segments and len(progress.segments) == len(thread_texts_including_first(content)) - 1:
        return str(progress.state["container"])
    if (found := _find_segment(account, content, progress)) is None:
        raise Transient(gettext_noop("Threads has published the post and does not list it yet."))
    return found


def _find_segment(account: GraphClientAndAccountId, content: Content, progress: Progress) -> str | None:
    """Search the Threads profile for the post that an interrupted attempt may have published; returns its id, or None.

    Raises OutcomeUnknown if several posts match or the list cannot be read, TokenExpired, Transient.
    """
    sent = progress.segments
    text, media_type = thread_texts_including_first(content)[len(sent)], _media_type(() if sent else content.media)
    edge = "replies" if sent else "threads"
    with ERRORS.translating_search_errors(f"the profile's {edge}"):
        found = [
            id_of(post)
            for post in _posts_since(account, edge, progress.state["since"])
            if object_or_empty(post.get("replied_to")).get("id") == (sent[-1] if sent else None)
            and post.get("media_type") == media_type
            and is_same_text(_without_hash(post.get("text")), _without_hash(text))
        ]
    if len(found) > 1:
        raise OutcomeUnknown(gettext_noop("Several posts of the profile have this text."), final=True)
    return found[0] if found else None


def _posts_since(account: GraphClientAndAccountId, edge: str, since: str) -> Iterator[dict[str, Any]]:
    """List the Threads profile's posts or replies created after the time `since`, newest first."""
    start = earliest_possible_creation_time(since)
    params = {
        "fields": "id,text,timestamp,media_type" + (",replied_to" if edge == "replies" else ""),
        "since": str(int(start.timestamp())),
        "limit": PAGE_SIZE,
    }
    too_long = OutcomeUnknown(gettext_noop("The profile has posted too much since then to find this post."), final=True)
    for post in account.graph.iterate_objects(f"/{account.id}/{edge}", params, max_pages=MAX_PAGES, too_long=too_long):
        created_at = time_field_or_none(post, "timestamp")
        if created_at and created_at >= start:
            yield post


def _media_type(files: Sequence[MediaFile]) -> str:
    """Return the media type by which a published Threads post with these files is recognized."""
    if len(files) > 1:
        return "CAROUSEL_ALBUM"
    return ("VIDEO" if files[0].kind == "video" else "IMAGE") if files else "TEXT_POST"


def _without_hash(text: Any) -> str:
    """Return a Threads post's text without hash signs: Threads turns the first hashtag into the post's topic."""
    return text.replace("#", "") if isinstance(text, str) else ""


def _after_segment(content: Content, progress: Progress, media_id: str) -> Progress:
    """Return the next publishing step of a Threads chain: prepare the next post or, after the last, ask for the URL."""
    sent = (*progress.segments, media_id)
    if len(sent) < len(thread_texts_including_first(content)):
        return replace(progress, segments=sent).with_next_step("container", {"since": progress.state["since"]})
    # Without the segments, because messages about errors would say that a further one is missing.
    return replace(progress, segments=(), published=Published(sent[0], "")).with_next_step("permalink", {})
