"""Publishing a Facebook page's post after its files are uploaded, and finding the post if the outcome is unknown.

Facebook has no idempotency key; what a call without a response has published is searched for (lookup.py). A video is shown
after Facebook has processed it, so it is asked about until then. Sources: developers.facebook.com, pages-api/posts,
video-api/guides/reels-publishing and page-stories-api.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_noop

from accounts.platforms.errors import ContentRejected, OutcomeUnknown, PlatformError
from accounts.platforms.facebook import lookup, media
from accounts.platforms.facebook.errors import ERRORS
from accounts.platforms.facebook.page import FacebookPageClient, permalink_or_fallback
from accounts.platforms.facebook.post_kinds import STORY_KINDS, VIDEO_KINDS, kind_of, raise_if_content_breaks_kind_rules
from accounts.platforms.facebook.reel_limit import check_reel_limit, raise_if_refused_for_rate_limit
from accounts.platforms.http.responses import UnreadableAnswer
from accounts.platforms.meta.errors import GraphError
from accounts.platforms.meta.graph import id_of
from accounts.platforms.processing import step_to_check_later_or_raise
from accounts.platforms.types import Content, NotPublishedProof, Progress, Published, State, UploadNotPublishedProof

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 5.0, 60.0  # between checks whether a video is processed
MAX_CHECKS = 100  # about an hour and a half
MAX_UPLOAD_AGE = timedelta(hours=20)  # Facebook deletes unpublished uploads after about a day
DUPLICATE, PHOTOS_POSTED = 506, 1366051  # an error code and a subcode of Facebook


def check_content_and_return_first_step(page: FacebookPageClient, content: Content, progress: Progress) -> Progress:
    """Check a Facebook post's content, and return its first publishing step with the start time. Raises ContentRejected."""
    raise_if_content_breaks_kind_rules(content)
    return media.next_upload_or_create_step(content, progress, {"since": timezone.now().isoformat(), "photos": []})


def create_post(page: FacebookPageClient, content: Content, progress: Progress) -> Progress | Published:
    """Publish the text and the uploaded files as a post of the Facebook page. Raises PlatformError."""
    edge, form = _call(content, progress.state)
    with ERRORS.translating_publish_errors(gettext_noop("this post")):
        try:
            answer = media.graph_client_for_post_kind(page, kind_of(content)).post_form(f"/{page.id}/{edge}", form)
        except GraphError as error:
            if ERRORS.request_may_have_taken_effect(error):
                raise
            return _after_refusal(page, content, progress, error)
        return _after_success(page, content, progress, answer)


def check_video_processing(page: FacebookPageClient, content: Content, progress: Progress) -> Progress | Published:
    """After a Facebook post is sent, ask whether Facebook has processed and published its video."""
    return _after_status(page, content, progress, media.fetch_video_status(page, progress.state["video"]))


def find_or_rule_out_published_post(
    page: FacebookPageClient, content: Content, progress: Progress
) -> Progress | Published | NotPublishedProof:
    """Continue after a Facebook post of unknown outcome: return the post, the next step, or a proof that it is not published.

    Raises as `create`.
    """
    state = progress.state
    if kind_of(content) not in VIDEO_KINDS:
        found = lookup.find_or_rule_out_published_post(page, content, state)
        return (
            found
            if isinstance(found, NotPublishedProof)
            else lookup.FIRST_COMMENT_STEPS.comment_step_or_published(content, progress, found)
        )
    video = media.fetch_video_status(page, state["video"])
    if video.status == "unpublished":
        return NotPublishedProof(UploadNotPublishedProof("the video is unpublished"))
    accepted = replace(progress, state={**state, "looks": 0}, accepted=True)
    return _after_status(page, content, accepted, video)


def _after_status(
    page: FacebookPageClient, content: Content, progress: Progress, video: media.FacebookVideoStatus
) -> Progress | Published:
    if video.status == "failed":
        raise ContentRejected(f"Facebook could not process the video: {video.reason}")
    if video.status != "published":
        return _wait(progress)
    video_id = progress.state["video"]
    story = lookup.find_story_showing_file(page, video_id) if kind_of(content) in STORY_KINDS else None
    return lookup.FIRST_COMMENT_STEPS.comment_step_or_published(
        content, progress, story or Published(video_id, video.permalink)
    )


def _wait(progress: Progress) -> Progress:
    return step_to_check_later_or_raise(
        progress,
        "settle",
        progress.state,
        first=FIRST_PAUSE_SECONDS,
        longest=LONGEST_PAUSE_SECONDS,
        max_checks=MAX_CHECKS,
        timeout=OutcomeUnknown(gettext_noop("Facebook accepted the video, but has not finished processing it."), final=True),
    )


def _call(content: Content, state: State) -> tuple[str, dict[str, str]]:
    """Return the Graph API path and the form fields of the call that publishes the Facebook post, according to its kind."""
    kind, options = kind_of(content), content.options
    if kind == "photo_story":
        return "photo_stories", {"photo_id": state["photos"][0]}
    text = {"message" if kind in ("text", "photos") else "description": content.text} if content.text.strip() else {}
    if kind not in VIDEO_KINDS:
        photos = [{"media_fbid": photo} for photo in state["photos"]]
        attached = {"attached_media": json.dumps(photos)} if photos else {}
        return "feed", text | attached | ({"link": options["link"]} if "link" in options else {})
    video = {"upload_session_id": state["session"]} if kind == "video" else {"video_id": state["video"]}
    finish = {"upload_phase": "finish", **video}
    if kind == "video_story":
        return media.VIDEO_API_PATHS[kind], finish
    published = {"video_state": "PUBLISHED"} if kind == "reel" else {}
    return media.VIDEO_API_PATHS[kind], finish | published | text | (
        {"title": options["title"]} if "title" in options else {}
    )


def _after_success(
    page: FacebookPageClient, content: Content, progress: Progress, answer: Mapping[str, Any]
) -> Progress | Published:
    """Return the published post, or the next publishing step, after Facebook has accepted a post.

    Raises UnreadableAnswer.
    """
    kind = kind_of(content)
    if kind not in VIDEO_KINDS | STORY_KINDS:
        post_id = id_of(answer)
        return lookup.FIRST_COMMENT_STEPS.comment_step_or_published(
            content, progress, Published(post_id, _permalink(page, post_id))
        )
    if answer.get("success") is not True:
        raise UnreadableAnswer("The response does not say that the post was accepted.")
    if kind in VIDEO_KINDS:
        return _wait(replace(progress, accepted=True))
    story = lookup.find_story_showing_file(page, progress.state["photos"][0])
    return story or Published(id_of(answer, "post_id"), permalink_or_fallback(None, f"stories/{page.id}"))


def _permalink(page: FacebookPageClient, post_id: str) -> str:
    """Ask Facebook for the URL of a post that was just published; errors are ignored."""
    address = None
    with suppress(PlatformError), ERRORS.translating_repeatable_call_errors():
        address = page.graph.get(f"/{post_id}", {"fields": "permalink_url"}).get("permalink_url")
    return permalink_or_fallback(address, post_id)


def _after_refusal(
    page: FacebookPageClient, content: Content, progress: Progress, refused: GraphError
) -> Progress | Published:
    """Handle Facebook's refusal of a post: return the post if it was published earlier, upload the files again, or raise.

    Facebook refuses a duplicate, because an earlier attempt may have published it; a reel, because the page has published
    its reels of the day; and uploads that are too old, which have to be repeated.
    """
    refusal, is_reel = ERRORS.translate_content_call_error(refused, "this post"), kind_of(content) == "reel"
    if is_reel:
        raise_if_refused_for_rate_limit(refused, content.attempt)
    if not isinstance(refusal, ContentRejected):
        raise refusal from refused
    is_duplicate = refused.number == DUPLICATE or refused.subcode == PHOTOS_POSTED
    if is_duplicate or kind_of(content) in VIDEO_KINDS:
        found = find_or_rule_out_published_post(page, content, progress)
        if not isinstance(found, NotPublishedProof):
            return found
    if is_reel:
        check_reel_limit(page, content.attempt, refusal.message)
    if is_duplicate and content.attempt > 1:
        message = gettext_noop("Facebook says that the page has published this already, but does not list it.")
        raise OutcomeUnknown(message, final=True) from refused
    age = timezone.now() - datetime.fromisoformat(progress.state["since"])
    if content.media and age > MAX_UPLOAD_AGE and not progress.state.get("again"):
        return media.next_upload_or_create_step(
            content, progress, {"since": timezone.now().isoformat(), "photos": [], "again": True}
        )
    raise refusal from refused
