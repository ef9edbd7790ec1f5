"""Checking an Instagram post, publishing it once Instagram has prepared it, and finding it if the outcome is unknown.

A container can be published once and says whether it was, so it is asked after a call without a response. It does not
say which post it became: that is the only one of the account with its caption since then. Source: developers.facebook.com,
instagram-platform/content-publishing.
"""

from __future__ import annotations

from contextlib import suppress

from django.utils.translation import gettext_noop

from accounts.platforms.errors import ContentRejected, PlatformError, RateLimited, Transient
from accounts.platforms.http.responses import https_url_or_empty
from accounts.platforms.instagram import containers
from accounts.platforms.instagram.capabilities import CAPABILITIES
from accounts.platforms.instagram.errors import DAILY_LIMIT_CODE, ERRORS, EXPIRED_CONTAINER_CODES, NOT_READY_CODE
from accounts.platforms.meta.comments import FirstCommentSteps
from accounts.platforms.meta.errors import GraphError, daily_limit_backoff_seconds
from accounts.platforms.meta.graph import (
    GraphClientAndAccountId,
    earliest_possible_creation_time,
    id_of,
    is_same_text,
    listed_objects,
    time_field_or_none,
)
from accounts.platforms.option_media import raise_if_options_do_not_fit_media
from accounts.platforms.types import Content, NotPublishedProof, Progress, Published, UploadNotPublishedProof

PAGE_SIZE = "50"

FIRST_COMMENT_STEPS = FirstCommentSteps(
    ERRORS,
    text_field="text",
    params={"fields": "id,text", "limit": PAGE_SIZE},
    max_pages=10,
    kind_evidence="instagram-graph-api/reference/ig-media/comments: all comments to a media object",
)


def check_content_and_return_first_step(account: GraphClientAndAccountId, content: Content, progress: Progress) -> Progress:
    """Begin to publish an Instagram post: check its content, and store the start time. Raises ContentRejected."""
    _check(content)
    return progress.with_next_step("container", containers.state_for_container_round(1))


def publish_container(account: GraphClientAndAccountId, content: Content, progress: Progress) -> Progress | Published:
    """Publish an Instagram post, once Instagram has prepared its text and files. Raises PlatformError."""
    with ERRORS.translating_publish_errors(gettext_noop("this post")):
        try:
            answer = account.graph.post_form(f"/{account.id}/media_publish", {"creation_id": progress.state["container"]})
        except GraphError as error:
            if error.status >= 500:
                raise
            return _after_refusal(account, content, progress, error)
        media_id = id_of(answer)
    return FIRST_COMMENT_STEPS.comment_step_or_published(
        content, progress, Published(media_id, _permalink(account, media_id))
    )


def find_or_rule_out_published_post(
    account: GraphClientAndAccountId, content: Content, progress: Progress
) -> Progress | Published | NotPublishedProof:
    """Find the Instagram post that an interrupted attempt may have published; if there is none, return a proof of that.

    Raises as `create`.
    """
    status, _ = containers.fetch_container_status(account, progress.state["container"])
    if status == "PUBLISHED":
        return _after_publication(account, content, progress)
    if status == "IN_PROGRESS":  # the container was ready before the attempt to publish it
        raise Transient(gettext_noop("Instagram is still publishing the post."))
    return NotPublishedProof(UploadNotPublishedProof(f"the container is {status}"))


def _check(content: Content) -> None:
    """Raise ContentRejected for content that Instagram does not accept, before anything is sent to Instagram."""
    if not content.media:
        raise ContentRejected(
            gettext_noop("Instagram does not accept a post of text alone."),
            suggested_action=gettext_noop("Attach an image or a video."),
        )
    raise_if_options_do_not_fit_media(content, CAPABILITIES.option_media)
    if content.options.get("post_type") == "story" and content.options.keys() - {"post_type"}:
        raise ContentRejected(gettext_noop("A story has no other options."), suggested_action=gettext_noop("Leave them out."))


def _after_refusal(
    account: GraphClientAndAccountId, content: Content, progress: Progress, refused: GraphError
) -> Progress | Published:
    """Handle Instagram's refusal of a post: return the post if it was published earlier, prepare it again, or raise.

    Instagram also refuses posts that it has published, so the container is asked; one that has expired or is not ready does
    not mean that the post is rejected.
    """
    state = progress.state
    if refused.subcode == DAILY_LIMIT_CODE:
        seconds = refused.retry_after or daily_limit_backoff_seconds(content.attempt)
        raise RateLimited(ERRORS.translate_repeatable_call_error(refused).message, retry_after=seconds) from refused
    if ERRORS.meaning_of_error_or_none(refused) in ("token", "permission", "rate_limit", "app"):
        raise refused
    status = _status_after(account, content, state["container"], refused)
    if status == "PUBLISHED":
        return _after_publication(account, content, progress)
    if status == "EXPIRED":
        return containers.step_that_recreates_containers(progress, refused.reason)
    if status == "IN_PROGRESS" or refused.subcode == NOT_READY_CODE:
        return containers.step_to_check_later_or_raise_transient(progress, {**state, "pending": [state["container"]]})
    raise refused


def _status_after(account: GraphClientAndAccountId, content: Content, container: str, refused: GraphError) -> str:
    """Return the status of a prepared post that Instagram refused to publish, perhaps because it is already published."""
    is_expired = refused.subcode in EXPIRED_CONTAINER_CODES
    try:
        status, _ = containers.fetch_container_status(account, container)
    except Transient:
        if is_expired and content.attempt == 1:
            return "EXPIRED"
        raise
    return "EXPIRED" if is_expired and status != "PUBLISHED" else status


def _permalink(account: GraphClientAndAccountId, media_id: str) -> str:
    """Return the URL of a published Instagram post; errors are ignored, because the post is already published."""
    with suppress(PlatformError), ERRORS.translating_repeatable_call_errors():
        return https_url_or_empty(account.graph.get(f"/{media_id}", {"fields": "permalink"}).get("permalink"))
    return ""


def _after_publication(account: GraphClientAndAccountId, content: Content, progress: Progress) -> Progress | Published:
    """Find a published Instagram post in the account's list. Returns the post, or the step that adds its first comment.

    The post has a note if it cannot be identified.
    """
    is_story = content.options.get("post_type") == "story"
    edge, caption = ("stories", "") if is_story else ("media", content.text)
    start = earliest_possible_creation_time(progress.state["since"])
    params = {"fields": "id,caption,permalink,timestamp", "limit": PAGE_SIZE}
    with suppress(PlatformError), ERRORS.translating_repeatable_call_errors():
        posts = listed_objects(account.graph.get(f"/{account.id}/{edge}", params))
        recent = [each for each in posts if (time := time_field_or_none(each, "timestamp")) and time >= start]
        matching = [each for each in recent if is_same_text(each.get("caption"), caption)]
        if len(matching) == 1:
            published = Published(id_of(matching[0]), https_url_or_empty(matching[0].get("permalink")))
            return FIRST_COMMENT_STEPS.comment_step_or_published(content, progress, published)
    return Published(
        "", "", note=gettext_noop("Instagram has published the post, but does not say which of the account's posts it is.")
    )
