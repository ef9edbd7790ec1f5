"""YouTube's videos in the stand-in: announced, sent by a resumable upload, and processed.

Written from developers.google.com/youtube/v3: the resumable upload protocol, the video resource, videos.insert,
videos.list and thumbnails.set with their errors.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.fakes.http_server import Answer, ReceivedRequest

BLOCK = 262_144  # the size of a piece must be a multiple
MAX_THUMBNAIL_BYTES = 52_428_800
SESSION_LIVES = timedelta(days=7)
CATEGORIES = {"1", "2", "10", "15", "17", "20", "22", "23", "24", "25", "26", "27", "28"}
SNIPPET = {"title", "description", "tags", "categoryId", "defaultLanguage"}
FLAGS = {"selfDeclaredMadeForKids", "containsSyntheticMedia", "embeddable"}
STATUS = FLAGS | {"privacyStatus", "license"}
_RANGE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+)")


class GoogleError(Exception):
    """An error response of Google's APIs."""

    def __init__(self, status: int, reason: str, message: str = "Bad request", domain: str = "youtube.video") -> None:
        super().__init__(reason)
        self.status, self.reason, self.message, self.domain = status, reason, message, domain

    def answer(self) -> Answer:
        """The error as an HTTP response."""
        detail = {"message": self.message, "domain": self.domain, "reason": self.reason}
        return Answer.of_json({"error": {"code": self.status, "message": self.message, "errors": [detail]}}, self.status)


@dataclass
class Upload:
    """An upload session: the announced video, the bytes that have arrived, and the id of the created video."""

    channel: str
    resource: dict[str, Any]
    mime_type: str
    total: int
    ends: datetime
    content: bytes = b""
    video_id: str | None = None


@dataclass
class Video:
    """A video on a channel. `checks_left`: how many more status checks find it unprocessed."""

    id: str
    channel: str
    resource: dict[str, Any]
    content: bytes
    checks_left: int
    becomes: dict[str, str]
    thumbnail: bytes | None = None

    def status(self) -> dict[str, Any]:
        """The video's status; each check brings processing nearer to its end."""
        self.checks_left -= 1
        upload_status = {"uploadStatus": "uploaded"} if self.checks_left >= 0 else self.becomes
        return {**self.resource["status"], **upload_status}


@dataclass
class Uploads:
    """Sessions and videos of all channels. `site` is the address of the sessions."""

    site: str
    sessions: dict[str, Upload] = field(default_factory=dict)
    videos: dict[str, Video] = field(default_factory=dict)
    processing: tuple[int, dict[str, str]] = (0, {"uploadStatus": "processed"})
    verified: bool = True
    audited: bool = True
    cut_at: int | None = None  # only so many bytes of the next piece arrive

    def open(self, channel: str, request: ReceivedRequest) -> Answer:
        """Announce a video."""
        if request.query.get("uploadType") != "resumable" or request.query.get("part") != "snippet,status":
            raise GoogleError(400, "invalidPart")
        if request.query.get("notifySubscribers") not in (None, "true", "false"):
            raise GoogleError(400, "invalidParameter")
        mime_type = request.headers.get("x-upload-content-type", "")
        if not mime_type.startswith("video/"):
            raise GoogleError(400, "mediaBodyRequired")
        total = int(request.headers["x-upload-content-length"])
        resource = request.json()
        _check(resource)
        key = f"AD{secrets.token_urlsafe(24)}"
        self.sessions[key] = Upload(channel, resource, mime_type, total, datetime.now(UTC) + SESSION_LIVES)
        return Answer(200, b"", {"Location": f"{self.site}/upload/youtube/v3/videos?uploadType=resumable&upload_id={key}"})

    def put(self, request: ReceivedRequest) -> Answer:
        """Receive a piece, or answer how much has arrived."""
        upload = self.sessions.get(request.query.get("upload_id", ""))
        if upload is None or datetime.now(UTC) >= upload.ends:
            return Answer(404, b"Not Found")
        content_range = _RANGE.fullmatch(request.headers.get("content-range", ""))
        if content_range is None or int(content_range[3]) != upload.total:
            raise GoogleError(400, "badRequest", "Failed to parse Content-Range header.", "global")
        if upload.video_id is None and content_range[1] is not None:
            self._receive(upload, int(content_range[1]), int(content_range[2]), request.body)
        if upload.video_id is None and len(upload.content) == upload.total:
            self._create_video(upload)
        if upload.video_id is not None:
            video = self.videos[upload.video_id]
            return Answer.of_json({"kind": "youtube#video", "id": video.id, **video.resource}, 200)
        has = {"Range": f"bytes=0-{len(upload.content) - 1}"} if upload.content else {}
        return Answer(308, b"", has)

    def list(self, channel: str, request: ReceivedRequest) -> Answer:
        """Return the videos with these ids that belong to the channel."""
        if request.query.get("part") != "status":
            raise GoogleError(400, "invalidPart")
        found = [self.videos[each] for each in request.query.get("id", "").split(",") if each in self.videos]
        items = [
            {"kind": "youtube#video", "id": video.id, "status": video.status()} for video in found if video.channel == channel
        ]
        return Answer.of_json({"kind": "youtube#videoListResponse", "items": items})

    def set_thumbnail(self, channel: str, request: ReceivedRequest) -> Answer:
        """Set the thumbnail of a video."""
        video = self.videos.get(request.query.get("videoId", ""))
        if video is None or video.channel != channel:
            raise GoogleError(404, "videoNotFound")
        if not self.verified:
            raise GoogleError(403, "forbidden", "The authenticated user doesn't have permissions to set custom thumbnails.")
        beginnings = {"image/jpeg": b"\xff\xd8\xff", "image/png": b"\x89PNG"}
        beginning = beginnings.get(request.headers.get("content-type", ""))
        if beginning is None or not request.body.startswith(beginning) or len(request.body) > MAX_THUMBNAIL_BYTES:
            raise GoogleError(400, "invalidImage")
        video.thumbnail = request.body
        return Answer.of_json({"kind": "youtube#thumbnailSetResponse", "items": []})

    def _receive(self, upload: Upload, start: int, end: int, body: bytes) -> None:
        if end - start + 1 != len(body) or end >= upload.total or start > len(upload.content):
            raise GoogleError(400, "badRequest", "The piece does not fit what is there.", "global")
        if end + 1 < upload.total and len(body) % BLOCK:
            raise GoogleError(400, "badRequest", "A piece has to be a multiple of 256 KiB.", "global")
        if self.cut_at is not None:
            body, self.cut_at = body[: self.cut_at // BLOCK * BLOCK], None
        upload.content += body[len(upload.content) - start :]

    def _create_video(self, upload: Upload) -> None:
        upload.video_id = secrets.token_urlsafe(8)
        checks, becomes = self.processing
        if not self.audited:
            upload.resource["status"]["privacyStatus"] = "private"
        self.videos[upload.video_id] = Video(
            upload.video_id, upload.channel, upload.resource, upload.content, checks, becomes
        )


def _check(resource: dict[str, Any]) -> None:
    snippet, status = resource.get("snippet", {}), resource.get("status", {})
    title, description, tags = snippet.get("title", ""), snippet.get("description", ""), snippet.get("tags", [])
    counted = ",".join(f'"{tag}"' if " " in tag else tag for tag in tags)
    wrong = {
        "invalidTitle": not title or len(title) > 100 or "<" in title or ">" in title,
        "invalidDescription": len(description.encode()) > 5000 or "<" in description or ">" in description,
        "invalidTags": len(counted) > 500,
        "invalidCategoryId": snippet.get("categoryId", "22") not in CATEGORIES,
        "invalidVideoMetadata": status.get("privacyStatus") not in ("public", "unlisted", "private")
        or status.get("license", "youtube") not in ("youtube", "creativeCommon")
        or not all(isinstance(status.get(name, True), bool) for name in FLAGS),
        "invalidRequest": bool(set(resource) - {"snippet", "status"} or set(snippet) - SNIPPET or set(status) - STATUS),
    }
    for reason, is_wrong in wrong.items():
        if is_wrong:
            raise GoogleError(400, reason, f"The request metadata is wrong: {reason}.")
