"""Asking for the status of a TikTok post until TikTok has published or rejected the post.

TikTok moderates a public post, which usually takes a minute and may take hours, and names the post's id only then. Other
posts get no id. Source: developers.tiktok.com, get post status.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from django.utils.translation import gettext_noop

from accounts.platforms.errors import (
    ContentRejected,
    OutcomeUnknown,
    PlatformError,
    ReauthRequired,
    TokenExpired,
    report_unknown_error_code,
)
from accounts.platforms.http.responses import NO_REASON, UnreadableAnswer, one_line
from accounts.platforms.processing import step_after_pause, step_to_check_later, step_to_check_later_or_raise
from accounts.platforms.tiktok.capabilities import PUBLIC_PRIVACY
from accounts.platforms.tiktok.client import ERRORS, Api, profile_url
from accounts.platforms.types import Content, Progress, Published

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 10, 300
MAX_CHECKS = 60  # about five hours
MAX_CHECKS_FOR_ID = 6  # ten minutes
RESTART_SECONDS = 60
MAX_ANNOUNCEMENTS = 3
IN_PROGRESS = ("PROCESSING_UPLOAD", "PROCESSING_DOWNLOAD")
# Nothing was published, and the same post may succeed when it is announced again.
TRANSIENT_REASONS = frozenset({"internal", "video_pull_failed", "photo_pull_failed", "auth_removed"})
REJECTION_REASONS = {
    "file_format_check_failed": gettext_noop("the file's format is not accepted"),
    "duration_check_failed": gettext_noop("the video's length is not accepted"),
    "frame_rate_check_failed": gettext_noop("the video's frame rate is not accepted"),
    "picture_size_check_failed": gettext_noop("the picture's size is not accepted"),
    "publish_cancelled": gettext_noop("the post was cancelled"),
    "spam_risk": gettext_noop("TikTok takes it for spam"),
    "spam_risk_text": gettext_noop("TikTok takes the text for spam"),
    "spam_risk_too_many_posts": gettext_noop("the creator has posted as much as TikTok allows in a day"),
    "spam_risk_user_banned_from_posting": gettext_noop("TikTok does not let the creator post"),
}
UNNAMED_PUBLIC_POST_NOTE = gettext_noop("TikTok has not named the post's address; the link leads to its creator.")
_POST_ID = re.compile(r"[0-9]{1,20}")


@dataclass(frozen=True)
class PostStatus:
    """The status of a TikTok post, and how many bytes of the video have arrived (`received`; None if TikTok does not say)."""

    name: str
    received: int | None
    post_id: str | None
    fail_reason: str


def fetch_post_status(api: Api, publish_id: str) -> PostStatus:
    """Ask TikTok for the status of the post with this publish id. Raises TikTokError, NotSent, SentWithoutAnswer."""
    data = api.post("/v2/post/publish/status/fetch/", json={"publish_id": publish_id})
    name, received, ids = data.get("status"), data.get("uploaded_bytes"), data.get("publicaly_available_post_id")
    if not isinstance(name, str):
        raise UnreadableAnswer("The response has no status.")
    first = str(ids[0]) if isinstance(ids, list) and ids else ""
    return PostStatus(
        name=one_line(name),
        received=received if type(received) is int and received >= 0 else None,
        post_id=first if _POST_ID.fullmatch(first) else None,
        fail_reason=one_line(data.get("fail_reason")) or NO_REASON,
    )


def first_status_check_step(progress: Progress, publish_id: str) -> Progress:
    """Return the publishing step that first asks TikTok for a post's status, shortly after the upload."""
    kept = {name: progress.state[name] for name in ("username", "announced")}
    accepted = replace(progress, accepted=True)
    return step_after_pause(accepted, "poll", {**kept, "publish_id": publish_id, "looks": 0}, FIRST_PAUSE_SECONDS)


def check_publishing_status(api: Api, content: Content, progress: Progress) -> Progress | Published:
    """Ask whether TikTok has published a post; while TikTok is not done, return the step that asks again later.

    Raises ContentRejected if TikTok rejected the post, OutcomeUnknown in the end, TokenExpired, ReauthRequired.
    """
    try:
        with ERRORS.translating_repeatable_call_errors():
            status = fetch_post_status(api, progress.state["publish_id"])
    except (TokenExpired, ReauthRequired):
        raise
    except PlatformError:  # the error says nothing about the post
        return _ask_again(content, progress)
    if status.name == "PUBLISH_COMPLETE":
        return _published(content, progress, status.post_id)
    if status.name == "FAILED":
        return _failed(progress, status.fail_reason)
    if status.name == "SEND_TO_USER_INBOX":
        raise OutcomeUnknown(
            gettext_noop("TikTok has put it into the creator's inbox, where the creator has to finish it."), final=True
        )
    if status.name not in IN_PROGRESS:
        report_unknown_error_code("tiktok", status.name[:60])
    return _ask_again(content, progress)


def _published(content: Content, progress: Progress, post_id: str | None) -> Progress | Published:
    """Return the published TikTok post, or the step that asks again because TikTok has not named the post's id yet.

    TikTok gives an id only to public posts, and may name it some time after publication.
    """
    state, address = progress.state, profile_url(progress.state["username"])
    if post_id:
        kind = "video" if content.media[0].kind == "video" else "photo"
        return Published(post_id, f"{address}/{kind}/{post_id}")
    published = Published(state["publish_id"], address)
    if content.options["privacy_level"] != PUBLIC_PRIVACY:
        return published
    checks = state["looks"] if progress.published else 0
    if checks >= MAX_CHECKS_FOR_ID:
        return replace(published, note=UNNAMED_PUBLIC_POST_NOTE)
    waiting = replace(progress, published=published)
    return step_to_check_later(
        waiting, "poll", {**state, "looks": checks}, first=FIRST_PAUSE_SECONDS, longest=LONGEST_PAUSE_SECONDS
    )


def _failed(progress: Progress, reason: str) -> Progress:
    announced = progress.state["announced"]
    if reason in TRANSIENT_REASONS and announced < MAX_ANNOUNCEMENTS:
        refused = replace(progress, accepted=False, published=None)  # TikTok takes its acceptance back
        return step_after_pause(refused, "start", {"announced": announced}, RESTART_SECONDS)
    if reason not in REJECTION_REASONS and reason not in TRANSIENT_REASONS:
        report_unknown_error_code("tiktok", reason[:60])
    raise ContentRejected(f"TikTok did not publish it: {REJECTION_REASONS.get(reason, reason)}.")


def _ask_again(content: Content, progress: Progress) -> Progress | Published:
    if progress.published:
        return _published(content, progress, None)
    return step_to_check_later_or_raise(
        progress,
        "poll",
        progress.state,
        first=FIRST_PAUSE_SECONDS,
        longest=LONGEST_PAUSE_SECONDS,
        max_checks=MAX_CHECKS,
        timeout=OutcomeUnknown(gettext_noop("TikTok has not said for hours what became of the post."), final=True),
    )
