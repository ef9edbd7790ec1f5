"""The kinds of Facebook posts (text, photos, video, reel, story): how content selects one, and each kind's restrictions.

A page may publish 30 reels through the API within 24 hours. The page's reels are counted before a video is uploaded. The list
includes those that were published by hand, so a page that does both may wait longer than necessary. A list that cannot be
read stops no reel: Facebook then refuses the one that is too many, with an error that it does not document. Source:
developers.facebook.com, video-api/guides/reels-publishing.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Literal

from django.utils import timezone

from accounts.platforms.errors import ContentRejected, PlatformError, RateLimited
from accounts.platforms.facebook.errors import ERRORS
from accounts.platforms.facebook.page import FacebookPage
from accounts.platforms.meta.errors import GraphError, daily_limit_pause_seconds
from accounts.platforms.meta.graph import listed_objects, time_of
from accounts.platforms.types import Content

PostKind = Literal["text", "photos", "video", "reel", "photo_story", "video_story"]
VIDEO_KINDS: frozenset[PostKind] = frozenset({"video", "reel", "video_story"})
STORY_KINDS: frozenset[PostKind] = frozenset({"photo_story", "video_story"})
MAX_SECONDS: dict[PostKind, int] = {"reel": 90, "video_story": 60}
MIN_SECONDS = 3
MAX_REELS = 30  # in REELS_WINDOW
REELS_WINDOW = timedelta(hours=24)
MAX_ATTEMPTS_WITH_REEL_CHECK = 2  # after so many waits Facebook decides: it does not count reels that were published by hand


def kind_of(content: Content) -> PostKind:
    """Return the kind of Facebook post that content becomes, according to its media and its option `post_type`."""
    post_type = content.options.get("post_type", "post")
    if post_type == "reel":
        return "reel"
    is_video = bool(content.media) and content.media[0].kind == "video"
    if post_type == "story":
        return "video_story" if is_video else "photo_story"
    return "video" if is_video else "photos" if content.media else "text"


def check_content(content: Content) -> None:
    """Raise ContentRejected if a Facebook post breaks a rule of its kind, such as a reel without a video.

    This is checked before any file is uploaded.
    """
    post_type, options = content.options.get("post_type", "post"), content.options
    files = [file.kind for file in content.media]
    if post_type == "reel" and files != ["video"]:
        raise ContentRejected("A reel is one video.", suggested_action="Attach one video, or leave `post_type` out.")
    if post_type == "story" and files not in (["image"], ["video"]):
        raise ContentRejected(
            "A story is one photo or one video.", suggested_action="Attach one file, or leave `post_type` out."
        )
    if "link" in options and files:
        raise ContentRejected(
            "Facebook shows a link with a preview, or media.", suggested_action="Leave the link or the media out."
        )
    if "title" in options and files != ["video"]:
        raise ContentRejected("Only a video has a title.", suggested_action="Leave the title out.")
    if post_type == "story" and options.keys() & {"first_comment", "title"}:
        raise ContentRejected(
            "A story has no comment and no title.", suggested_action="Leave `first_comment` and `title` out."
        )
    if not files and not content.text.strip() and "link" not in options:
        raise ContentRejected("There is neither text nor media.")
    _check_length(content)


def _check_length(content: Content) -> None:
    kind = kind_of(content)
    if kind not in MAX_SECONDS:
        return
    milliseconds, longest = content.media[0].duration_ms, MAX_SECONDS[kind]
    if milliseconds is not None and not MIN_SECONDS * 1000 <= milliseconds <= longest * 1000:
        name = "reel" if kind == "reel" else "story"
        raise ContentRejected(
            f"The video lasts {milliseconds / 1000:g} seconds; a {name} lasts {MIN_SECONDS} to {longest}.",
            suggested_action=f"Cut it to {longest} seconds, or publish it as a post.",
        )


def check_reel_limit(page: FacebookPage, attempt: int, refusal: str = "") -> None:
    """Raise RateLimited if the Facebook page has reached the limit for posts of the kind reel in 24 hours.

    `refusal` is Facebook's answer to this reel, if it was sent already.
    """
    recent = _recent_reels(page)
    if len(recent) < MAX_REELS:
        return
    free_at = recent[MAX_REELS - 1] + REELS_WINDOW
    seconds = max((free_at - timezone.now()).total_seconds(), daily_limit_pause_seconds(attempt))
    message = f"Facebook lets a page publish {MAX_REELS} reels in 24 hours, and the page has published {len(recent)}."
    raise RateLimited(f"{message} {refusal}".rstrip(), retry_after=seconds)


def raise_if_reel_rate_limited(refused: GraphError, attempt: int) -> None:
    """Raise RateLimited if Facebook refuses the kind reel for a rate limit without waiting time, probably the daily one."""
    if ERRORS.meaning_of(refused) == "rate_limit" and refused.retry_after is None:
        raise RateLimited(
            ERRORS.repeatable_call_error(refused).message, retry_after=daily_limit_pause_seconds(attempt)
        ) from refused


def _recent_reels(page: FacebookPage) -> list[datetime]:
    """Return when the page's Facebook posts of the kind reel were created in the last 24 hours; empty if unreadable."""
    params = {"fields": "created_time,published", "limit": "100"}
    reels: list[dict[str, Any]] = []
    with suppress(PlatformError), ERRORS.repeatable_call_errors():
        reels = listed_objects(page.graph.get(f"/{page.id}/video_reels", params))
    times = (time_of(reel, "created_time") for reel in reels if reel.get("published") is not False)
    since = timezone.now() - REELS_WINDOW
    return sorted((each for each in times if each and each > since), reverse=True)
