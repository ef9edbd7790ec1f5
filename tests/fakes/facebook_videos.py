"""Facebook's videos in the stand-in: announced, sent in parts or whole, finished, and processed.

Sources: developers.facebook.com, graph-api/video-uploads (the host, start, transfer, finish), video-api/reference/
error-codes, video-api/guides/reels-publishing (reels, 30 in 24 hours), graph-api/reference/video-status. The error of the
reel above the limit is not documented; here it is that of custom throttling, graph-api/overview/rate-limiting.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from tests.fakes.http_server import Answer, ReceivedRequest
from tests.fakes.meta import GraphRefusal, fields_of, form_of, ids_in, invalid_parameter, list_page, parts_of, stamp

PART_BYTES = 1000
REELS_A_DAY = 30
TOO_MANY_REELS = GraphRefusal(613, "(#613) Calls to this api have exceeded the rate limit.")


@dataclass
class Video:
    """A video; `edge` is where it was announced. `checks_left`: how many more status checks find it unprocessed."""

    id: str
    page_id: str
    edge: str
    size: int
    content: bytes = b""
    complete: bool = False
    given: dict[str, str] = field(default_factory=dict)
    state: Literal["announced", "finished", "published", "failed"] = "announced"
    checks_left: int = 0
    fails: bool = False
    finished_at: datetime | None = None
    comments: list[tuple[str, str]] = field(default_factory=list)


class FacebookVideos:
    """Videos of all pages. `processing`: the status checks until a finished video is published, and whether it fails then."""

    def __init__(self, site: str, new_id: Callable[[], str]) -> None:
        self._site, self._new_id = site, new_id
        self.videos: dict[str, Video] = {}
        self.sessions: dict[str, str] = {}  # session → video
        self.processing: tuple[int, bool] = (1, False)
        self.too_many_reels = TOO_MANY_REELS

    def phase(self, page_id: str, request: ReceivedRequest, edge: str) -> Answer:
        given = form_of(request)
        asked = given.get("upload_phase")
        if asked == "start":
            return self._start(page_id, edge, given)
        if asked == "transfer" and edge == "videos":
            return self._transfer(request, given)
        if asked == "finish":
            return self._finish(page_id, edge, given)
        raise invalid_parameter("upload_phase is not one of the documented phases")

    def upload(self, request: ReceivedRequest) -> Answer:
        """Receive the whole file of a reel or a story, at the address that was issued for it."""
        video = self.videos.get(ids_in(request)[0])
        headers = request.headers
        whole = headers.get("offset") == "0" and headers.get("file_size") == str(len(request.body))
        if video is None or video.edge == "videos" or not whole or video.complete:
            fields = {"retriable": False, "type": "PartialRequestError", "message": "Partial request (did not match length)"}
            return Answer.of_json({"debug_info": fields}, 400)
        video.content, video.complete = request.body, True
        return Answer.of_json({"success": True, "message": "Upload successful."})

    def status_of(self, video_id: str) -> Answer:
        video = self.videos[video_id]
        if video.state == "finished":
            if video.checks_left <= 0:
                video.state = "failed" if video.fails else "published"
            video.checks_left -= 1
        fields: dict[str, Any] = {"id": video.id, "published": video.state == "published", "status": _status(video)}
        if video.state == "published":
            fields["permalink_url"] = f"/reel/{video.id}/"
        return Answer.of_json(fields)

    def stories(self, page_id: str) -> list[Video]:
        return [
            each
            for each in self.videos.values()
            if each.page_id == page_id and each.edge == "video_stories" and each.state == "published"
        ]

    def reels(self, page_id: str, request: ReceivedRequest) -> Answer:
        """Return a page of the list of reels, the newest first."""
        wanted = fields_of(request, {"id", "description", "created_time", "published", "permalink_url"}) | {"id"}
        fields = [
            {"id": each.id, "created_time": stamp(each.finished_at), "published": each.state == "published"}
            for each in reversed(self.videos.values())
            if each.page_id == page_id and each.edge == "video_reels" and each.finished_at
        ]
        return list_page([{name: value for name, value in each.items() if name in wanted} for each in fields], request)

    def add_reel(self, page_id: str) -> None:
        """Publish a reel as another client of the API."""
        reel = Video(self._new_id(), page_id, "video_reels", 1, b"-", complete=True, state="published")
        reel.finished_at = datetime.now(UTC)
        self.videos[reel.id] = reel

    def _start(self, page_id: str, edge: str, given: dict[str, str]) -> Answer:
        video = Video(self._new_id(), page_id, edge, int(given.get("file_size", "0")))
        self.videos[video.id] = video
        if edge != "videos":
            return Answer.of_json({"video_id": video.id, "upload_url": f"{self._site}/video-upload/v25.0/{video.id}"})
        if video.size < 1:
            raise invalid_parameter("The size of the file is needed.")
        session = self._new_id()
        self.sessions[session] = video.id
        return Answer.of_json({"upload_session_id": session, "video_id": video.id, **_next(video)})

    def _transfer(self, request: ReceivedRequest, given: dict[str, str]) -> Answer:
        video = self._of_session(given)
        if given.get("start_offset") != str(len(video.content)):
            message = "There was a problem uploading your video. Please try uploading it again."
            raise GraphRefusal(6001, message, 1363037, error_data=_next(video))
        part, is_file = parts_of(request)["video_file_chunk"]
        if not is_file or not 0 < len(part) <= PART_BYTES:
            raise GraphRefusal(6001, "The part is not one that was asked for.", 1363020)
        video.content += part
        video.complete = len(video.content) == video.size
        return Answer.of_json(_next(video))

    def _finish(self, page_id: str, edge: str, given: dict[str, str]) -> Answer:
        video = self._of_session(given) if edge == "videos" else self.videos.get(given.get("video_id", ""))
        if video is None or video.page_id != page_id or video.edge != edge or not video.complete:
            raise GraphRefusal(6000, "There was a problem uploading your video file.", 1363041)
        if video.state != "announced":
            raise GraphRefusal(6000, "The video was published already.", 1363043)
        if edge == "video_reels" and given.get("video_state") != "PUBLISHED":
            raise invalid_parameter("video_state is not PUBLISHED")
        if edge == "video_reels" and self._reels_of_today(page_id) >= REELS_A_DAY:
            raise self.too_many_reels
        shown = {name: text for name, text in given.items() if name in ("description", "title")}
        video.given, video.state, video.finished_at = shown, "finished", datetime.now(UTC)
        video.checks_left, video.fails = self.processing
        post_id = {"post_id": f"9{video.id}"} if edge == "video_stories" else {}
        return Answer.of_json({"success": True, **post_id})

    def _reels_of_today(self, page_id: str) -> int:
        since = datetime.now(UTC) - timedelta(hours=24)
        own = (each for each in self.videos.values() if each.page_id == page_id and each.edge == "video_reels")
        return sum(each.finished_at is not None and each.finished_at > since for each in own)

    def _of_session(self, given: dict[str, str]) -> Video:
        video_id = self.sessions.get(given.get("upload_session_id", ""))
        if video_id is None:
            raise GraphRefusal(6000, "There is no such upload session.", 1363041)
        return self.videos[video_id]


def _next(video: Video) -> dict[str, str]:
    start = len(video.content)
    return {"start_offset": str(start), "end_offset": str(min(start + PART_BYTES, video.size))}


def _status(video: Video) -> dict[str, Any]:
    shown = {"announced": "processing", "finished": "processing", "published": "ready", "failed": "error"}[video.state]
    behind = {"announced": "not_started", "finished": "in_progress", "published": "complete", "failed": "error"}[video.state]
    processing: dict[str, Any] = {"status": behind}
    if video.state == "failed":
        processing["errors"] = [{"code": 1363024, "message": "The video file has a format that is not supported."}]
    return {
        "video_status": shown,
        "uploading_phase": {"status": "complete" if video.complete else "in_progress"},
        "processing_phase": processing,
        "publishing_phase": {"status": "complete" if video.state == "published" else "not_started"},
    }
