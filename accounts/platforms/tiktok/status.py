"""What became of a publish id, asked until TikTok has an end. Source: developers.tiktok.com, get post status.

A post that everybody may see is moderated, which mostly takes a minute and may take hours; only then is its id told.
What others may see has none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.platforms.errors import (
    AccountDisconnected,
    ContentRejected,
    OutcomeUnknown,
    PlatformError,
    TokenExpired,
    unmapped,
)
from accounts.platforms.tiktok.capabilities import PUBLIC
from accounts.platforms.tiktok.client import Api, UnreadableAnswer, line, platform_errors
from accounts.platforms.tiktok.creator import profile
from accounts.platforms.types import OUT, TAKEN, Content, Progress, Published

FIRST_LOOK_SECONDS, LONGEST_PAUSE_SECONDS = 10, 300
MAX_LOOKS = 60  # about five hours
MAX_LOOKS_FOR_ID = 6  # ten minutes
RESTART_SECONDS = 60
MAX_ANNOUNCEMENTS = 3
UNDER_WAY = ("PROCESSING_UPLOAD", "PROCESSING_DOWNLOAD")
# Nothing is out, and the same post may go through when it is announced again.
PASSING = frozenset({"internal", "video_pull_failed", "photo_pull_failed", "auth_removed"})
REJECTED = {
    "file_format_check_failed": "the file's format is not taken",
    "duration_check_failed": "the video's length is not taken",
    "frame_rate_check_failed": "the video's frame rate is not taken",
    "picture_size_check_failed": "the picture's size is not taken",
    "publish_cancelled": "the post was cancelled",
    "spam_risk": "TikTok takes it for spam",
    "spam_risk_text": "TikTok takes the text for spam",
    "spam_risk_too_many_posts": "the creator has posted as much as TikTok allows in a day",
    "spam_risk_user_banned_from_posting": "TikTok does not let the creator post",
}
NO_ADDRESS = "TikTok has not told the post's address; the link leads to its creator."
_POST_ID = re.compile(r"[0-9]{1,20}")

State = Mapping[str, Any]


@dataclass(frozen=True)
class Standing:
    """Where a post stands, by TikTok's name; the bytes of its video that TikTok has, and the post's id, where told."""

    status: str
    received: int | None
    post_id: str | None
    fail_reason: str


def ask(api: Api, publish_id: str) -> Standing:
    """Where the post of this publish id stands. Raises TikTokError, NotSent, NoAnswer."""
    told = api.post("/v2/post/publish/status/fetch/", {"publish_id": publish_id})
    status, received, ids = told.get("status"), told.get("uploaded_bytes"), told.get("publicaly_available_post_id")
    if not isinstance(status, str):
        raise UnreadableAnswer("The answer tells no status.")
    first = str(ids[0]) if isinstance(ids, list) and ids else ""
    return Standing(
        status=line(status),
        received=received if type(received) is int and received >= 0 else None,
        post_id=first if _POST_ID.fullmatch(first) else None,
        fail_reason=line(told.get("fail_reason")) or "no reason given",
    )


def first_look(state: State, publish_id: str) -> Progress:
    """The step after the one by which TikTok has taken the post."""
    kept = {name: state[name] for name in ("username", "announced")}
    return _later({**kept, "publish_id": publish_id, "looks": 0, TAKEN: True}, FIRST_LOOK_SECONDS)


def poll(api: Api, content: Content, state: State) -> Progress | Published:
    """Look what became of the post; what cannot be looked at now is looked at later.

    Raises ContentRejected where TikTok says that it failed, OutcomeUnknown in the end, TokenExpired, AccountDisconnected.
    """
    try:
        with platform_errors():
            standing = ask(api, state["publish_id"])
    except (TokenExpired, AccountDisconnected):
        raise
    except PlatformError:  # a refusal to tell says nothing of the post
        return _look_again(content, state)
    if standing.status == "PUBLISH_COMPLETE":
        return _complete(content, state, standing)
    if standing.status == "FAILED":
        return _failed(state, standing.fail_reason)
    if standing.status == "SEND_TO_USER_INBOX":
        raise OutcomeUnknown(
            "TikTok has put it into the creator's inbox, where the creator has to finish it.", final=True
        )
    if standing.status not in UNDER_WAY:
        unmapped("tiktok", standing.status[:60])
    return _look_again(content, state)


def _complete(content: Content, state: State, standing: Standing) -> Progress | Published:
    """The post is out. What everybody may see has an id, sooner or later."""
    is_public = content.options["privacy_level"] == PUBLIC
    address = profile(state["username"])
    if standing.post_id:
        kind = "video" if content.media[0].kind == "video" else "photo"
        return Published(standing.post_id, f"{address}/{kind}/{standing.post_id}")
    out = {"external_id": state["publish_id"], "permalink": address}
    looks = state["looks"] if OUT in state else 0
    if is_public and looks < MAX_LOOKS_FOR_ID:
        return _later({**state, OUT: out, "looks": looks + 1}, FIRST_LOOK_SECONDS * 2**looks)
    return Published(
        **out, note="TikTok has not told the post's address; the link leads to its creator." if is_public else ""
    )


def _failed(state: State, reason: str) -> Progress:
    if reason in PASSING and state["announced"] < MAX_ANNOUNCEMENTS:
        ready_at = timezone.now() + timedelta(seconds=RESTART_SECONDS)
        return Progress("start", {"announced": state["announced"]}, ready_at=ready_at)
    if reason not in REJECTED and reason not in PASSING:
        unmapped("tiktok", reason[:60])
    raise ContentRejected(f"TikTok did not publish it: {REJECTED.get(reason, reason)}.")


def _look_again(content: Content, state: State) -> Progress | Published:
    if OUT in state:
        return _complete(content, state, Standing("PUBLISH_COMPLETE", None, None, ""))
    if state["looks"] >= MAX_LOOKS:
        raise OutcomeUnknown("TikTok has not told for hours what became of the post.", final=True)
    pause = min(FIRST_LOOK_SECONDS * 2 ** min(state["looks"], 10), LONGEST_PAUSE_SECONDS)
    return _later({**state, "looks": state["looks"] + 1}, pause)


def _later(state: State, seconds: float) -> Progress:
    return Progress("poll", state, ready_at=timezone.now() + timedelta(seconds=seconds))
