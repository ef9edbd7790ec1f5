"""The calls of X's media upload: one for a still image, four for a GIF or a video, and one for the metadata.

Source: docs.x.com, media upload (upload, initialize, append, finalize, status, metadata) and media best practices.
"""

from __future__ import annotations

import re
from typing import Any

from requests_toolbelt import MultipartDecoder

from tests.fakes.http_server import Answer, ReceivedRequest
from tests.fakes.x_problems import Problem, invalid
from tests.fakes.x_store import KINDS, Person, Upload, XStore

IMAGE_BYTES, GIF_BYTES, VIDEO_BYTES = 5_242_880, 15 * 1024 * 1024, 512 * 1024 * 1024
SEGMENT_BYTES = 5 * 1024 * 1024
LIMITS = {"tweet_image": IMAGE_BYTES, "tweet_gif": GIF_BYTES, "tweet_video": VIDEO_BYTES}
MIME_TYPES = {
    "tweet_image": {"image/jpeg", "image/png", "image/webp", "image/gif"},
    "tweet_gif": {"image/gif"},
    "tweet_video": {"video/mp4", "video/quicktime"},
}
STILL = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"RIFF")  # what JPEG, PNG and WebP begin with

_NAMED = re.compile(r';\s*name="([^"]*)"')


class XMedia:
    """X's media upload over one store. `processing`: how many checks a GIF or video takes, and whether it fails then."""

    def __init__(self, store: XStore) -> None:
        self._store = store
        self.processing: tuple[int, bool] = (1, False)

    def upload(self, person: Person, request: ReceivedRequest) -> Answer:
        """Upload a still image to X in one call."""
        form = _multipart(request)
        content = form.pop("media", b"")
        fields = {name: value.decode() for name, value in form.items()}
        if fields.pop("media_category", None) != "tweet_image" or fields:
            raise invalid("media_category", "The media category is not one of a single upload.")
        if not content.startswith(STILL):
            raise invalid("media", "The type of the media is not recognized.")
        if len(content) > IMAGE_BYTES:
            raise Problem(413, "Request Entity Too Large", "maxFileSizeExceeded")
        upload = self._add(person, "tweet_image", "", len(content))
        upload.segments[0], upload.finalized = content, True
        return Answer.of_json({"data": upload.entity()})

    def initialize(self, person: Person, request: ReceivedRequest) -> Answer:
        given = _json(request, {"media_type", "total_bytes", "media_category"})
        category = given.get("media_category")
        if category not in KINDS:
            raise invalid("media_category", "The media category is not known.")
        if given.get("media_type") not in MIME_TYPES[category]:
            raise invalid("media_type", "The media type is not one of this category.")
        total = given.get("total_bytes")
        if type(total) is not int or not 0 < total <= LIMITS[category]:
            raise invalid("total_bytes", "File size exceeds the limit of this category.")
        upload = self._add(person, category, given["media_type"], total)
        return Answer.of_json({"data": upload.entity()})

    def append(self, person: Person, request: ReceivedRequest) -> Answer:
        """Store a segment of an X upload; a segment that exists is replaced."""
        upload, form = self._own(person, request.path.split("/")[4]), _multipart(request)
        index, content = form.get("segment_index", b"").decode(), form.get("media", b"")
        if upload.finalized or set(form) != {"segment_index", "media"}:
            raise invalid("media", "The upload takes no such segment.")
        if not index.isdecimal() or int(index) > 999:
            raise invalid("segment_index", "The segment index is out of range.")
        if not 0 < len(content) <= SEGMENT_BYTES:
            raise Problem(413, "Request Entity Too Large", "The segment is too large.")
        upload.segments[int(index)] = content
        return Answer.of_json({"data": {"expires_at": 1_800_000_000}})

    def finalize(self, person: Person, request: ReceivedRequest) -> Answer:
        """Finish an X upload: only once, and only when all bytes have arrived."""
        upload = self._own(person, request.path.split("/")[4])
        complete = sorted(upload.segments) == list(range(len(upload.segments)))
        if upload.finalized or not complete or len(upload.content) != upload.total_bytes:
            raise invalid("id", "Segments do not add up to provided total file size.")
        upload.finalized = True
        if upload.category != "tweet_image":
            upload.checks_left, upload.failed = self.processing
        return Answer.of_json({"data": {**upload.entity(), **_processing(upload, "pending")}})

    def status(self, person: Person, request: ReceivedRequest) -> Answer:
        """Return the processing state of an X upload; each check advances the processing."""
        if request.query.get("command") != "STATUS":
            raise invalid("command", "The command is not one of [STATUS].")
        upload = self._own(person, request.query.get("media_id", ""))
        if not upload.finalized:
            raise invalid("media_id", "The upload is not finalized.")
        upload.checks_left = max(upload.checks_left - 1, 0)
        return Answer.of_json({"data": {**upload.entity(), **_processing(upload, "in_progress")}})

    def describe(self, person: Person, request: ReceivedRequest) -> Answer:
        """Set the alt text of an image or a GIF at X."""
        given = _json(request, {"id", "metadata"})
        upload = self._own(person, str(given.get("id")))
        match given.get("metadata"):
            case {"alt_text": {"text": str(text), **rest}, **others} if text and not rest and not others:
                if len(text) > 1000:
                    raise invalid("metadata.alt_text.text", "The alt text is too long.")
            case _:
                raise invalid("metadata", "The metadata are not known.")
        if upload.category == "tweet_video":
            raise invalid("id", "Alt text is not supported for this media.")
        upload.alt_text = text
        return Answer.of_json({"data": {"id": upload.id, "associated_metadata": given["metadata"]}})

    def _add(self, person: Person, category: str, mime_type: str, total: int) -> Upload:
        upload = Upload(self._store.new_id(), person.id, category, mime_type, total)
        self._store.uploads[upload.id] = upload
        return upload

    def _own(self, person: Person, media_id: str) -> Upload:
        upload = self._store.uploads.get(media_id)
        if upload is None or upload.owner != person.id:
            raise invalid("id", f"Could not find media with id: [{media_id}].")
        return upload


def _processing(upload: Upload, state: str) -> dict[str, Any]:
    """The processing state of an X upload; empty if it needs no processing."""
    if upload.category == "tweet_image":
        return {}
    if upload.checks_left:
        return {"processing_info": {"state": state, "check_after_secs": 2, "progress_percent": 50}}
    if upload.failed:
        error = {"code": 1, "name": "InvalidMedia", "message": "Unsupported video format"}
        return {"processing_info": {"state": "failed", "error": error}}
    return {"processing_info": {"state": "succeeded", "progress_percent": 100}}


def _json(request: ReceivedRequest, allowed: set[str]) -> dict[str, Any]:
    given = request.json()
    if unknown := set(given) - allowed:
        raise invalid(unknown.pop(), "is not defined in the schema and the schema does not allow additional properties")
    return dict(given)


def _multipart(request: ReceivedRequest) -> dict[str, bytes]:
    content_type = request.headers.get("content-type", "")
    if not content_type.startswith("multipart/form-data; boundary="):
        raise Problem(415, "Unsupported Media Type", "The request has to be multipart/form-data.")
    parts = {}
    for part in MultipartDecoder(request.body, content_type).parts:
        named = _NAMED.search(part.headers[b"Content-Disposition"].decode())
        parts[named[1] if named else ""] = part.content
    return parts
