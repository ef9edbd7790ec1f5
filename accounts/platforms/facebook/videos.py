"""The status of a video at Facebook: unpublished, processing, published or failed.

Source: developers.facebook.com, graph-api/reference/video-status and video-api/guides/reels-publishing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from accounts.platforms.facebook.page import ERRORS, Page, permalink
from accounts.platforms.http.responses import NO_REASON, as_object, objects_in, safe_line

Status = Literal["unpublished", "processing", "published", "failed"]
FAILED = frozenset({"error", "expired", "upload_failed"})


@dataclass(frozen=True)
class Video:
    """A video at Facebook: `is_uploaded` if all of it has arrived, `reason` if it failed."""

    status: Status
    permalink: str
    is_uploaded: bool
    reason: str


def get_video(page: Page, video_id: str) -> Video:
    """Ask Facebook about a video. Raises TokenExpired, AccountDisconnected, Transient."""
    with ERRORS.platform_errors():
        answer = page.graph.get(f"/{video_id}", {"fields": "status,published,permalink_url"})
    status = as_object(answer.get("status"))
    return Video(
        status=_status(answer, status),
        permalink=permalink(answer.get("permalink_url"), f"reel/{video_id}"),
        is_uploaded=as_object(status.get("uploading_phase")).get("status") == "complete",
        reason=_reason(status),
    )


def _status(answer: Mapping[str, Any], status: Mapping[str, Any]) -> Status:
    """The status of a Facebook video. Processing begins when Facebook is asked to publish, so it means that it was asked."""
    video, published = status.get("video_status"), answer.get("published")
    processing, publishing = (
        as_object(status.get(f"{name}_phase")).get("status") for name in ("processing", "publishing")
    )
    if video in FAILED or "error" in (processing, publishing):
        return "failed"
    if publishing == "complete" or (publishing is None and (published or (video == "ready" and published is None))):
        return "published"
    if publishing == "in_progress" or processing in ("in_progress", "complete"):
        return "processing"
    return "processing" if video == "processing" and publishing is None else "unpublished"


def _reason(status: Mapping[str, Any]) -> str:
    for name in ("uploading_phase", "processing_phase", "publishing_phase"):
        phase = as_object(status.get(name))
        errors = phase.get("errors") or phase.get("error")
        for error in objects_in(errors if isinstance(errors, list) else [errors]):
            if reason := safe_line(error.get("message")):
                return reason
    return NO_REASON
