"""How far Facebook is with a video: whether it was told to publish it, has processed it, and where it shows it.

Source: developers.facebook.com, graph-api/reference/video-status and video-api/guides/reels-publishing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from accounts.platforms.facebook.page import PRODUCT, Page, permalink
from accounts.platforms.meta.graph import line

Standing = Literal["unpublished", "processing", "out", "failed"]
FAILED = frozenset({"error", "expired", "upload_failed"})


@dataclass(frozen=True)
class Video:
    """A video as Facebook tells of it: whether all of it has `arrived`, and the `reason` if it failed."""

    standing: Standing
    permalink: str
    arrived: bool
    reason: str


def look_at(page: Page, video_id: str) -> Video:
    """Ask Facebook. Raises TokenExpired, AccountDisconnected, Transient."""
    with PRODUCT.faults():
        answer = page.graph.get(f"/{video_id}", {"fields": "status,published,permalink_url"})
    status = answer.get("status")
    told = status if isinstance(status, dict) else {}
    shown = permalink(answer.get("permalink_url"), f"reel/{video_id}")
    arrived = _phase(told, "uploading_phase").get("status") == "complete"
    return Video(_standing(answer, told), shown, arrived, _reason(told))


def _standing(answer: Mapping[str, Any], status: Mapping[str, Any]) -> Standing:
    """Processing tells that Facebook was told to publish the video, since it begins with that."""
    video, published = status.get("video_status"), answer.get("published")
    processing, publishing = (_phase(status, f"{name}_phase").get("status") for name in ("processing", "publishing"))
    if video in FAILED or "error" in (processing, publishing):
        return "failed"
    if publishing == "complete" or (publishing is None and (published or (video == "ready" and published is None))):
        return "out"
    if publishing == "in_progress" or processing in ("in_progress", "complete"):
        return "processing"
    return "processing" if video == "processing" and publishing is None else "unpublished"


def _reason(status: Mapping[str, Any]) -> str:
    for name in ("uploading_phase", "processing_phase", "publishing_phase"):
        phase = _phase(status, name)
        errors = phase.get("errors") or phase.get("error")
        for error in errors if isinstance(errors, list) else [errors]:
            if isinstance(error, dict) and (reason := line(error.get("message"))):
                return reason
    return "no reason given"


def _phase(status: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    phase = status.get(name)
    return phase if isinstance(phase, dict) else {}
