"""Uploads of videos to YouTube in resumable upload sessions.

A session creates at most one video, however often its bytes are sent. Google answers the announcement of a file with the
session's address. It accepts the bytes there in pieces, and answers each with 308 and a `Range` of what it has, or with the
video once it is complete. A session lasts about a week.
Source: developers.google.com/youtube/v3, guides/using_resumable_upload_protocol.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from accounts.platforms.http.responses import UnreadableAnswer, json_object_or_none
from accounts.platforms.types import MediaFile
from accounts.platforms.upload_addresses import is_platform_upload_url
from accounts.platforms.youtube.client import Api, YouTubeError, id_of

PIECE_BYTES = 8 * 1024 * 1024  # Google requires a multiple of 262,144 for all pieces but the last
PIECE_SECONDS = 180.0
UPLOAD_DOMAIN = "googleapis.com"
ENDED_SESSION_STATUSES = (404, 410)
_RANGE = re.compile(r"bytes=0-([0-9]{1,15})")


class UploadSessionExpired(Exception):
    """Raised if YouTube no longer has the upload session of a video."""


@dataclass(frozen=True)
class UploadProgress:
    """The progress of an upload to YouTube: how many bytes have arrived and, after the last byte, the video's id."""

    received: int
    video_id: str | None = None


@dataclass(frozen=True)
class UploadSession:
    """A resumable upload session of a YouTube video; whoever knows its URL (`address`) can upload, so the URL is secret."""

    api: Api
    address: str = field(repr=False)
    size_bytes: int

    def query_progress(self) -> UploadProgress:
        """Ask YouTube how many bytes of the video's upload have arrived.

        Raises UploadSessionExpired, YouTubeError, NotSent, SentWithoutAnswer.
        """
        return self._put(b"", f"bytes */{self.size_bytes}", self.api.timeout_seconds)

    def upload_piece(self, piece: bytes, start: int) -> UploadProgress:
        """Upload to YouTube the piece of a video's file that begins at byte `start`.

        Raises the same errors as `query_progress`.
        """
        return self._put(piece, f"bytes {start}-{start + len(piece) - 1}/{self.size_bytes}", PIECE_SECONDS)

    def _put(self, piece: bytes, content_range: str, seconds: float) -> UploadProgress:
        headers = {"Content-Range": content_range}
        try:
            response = self.api.send_to_url("PUT", self.address, headers=headers, data=piece, timeout=seconds)
        except YouTubeError as error:
            if error.status in ENDED_SESSION_STATUSES:
                raise UploadSessionExpired from error
            raise
        if response.status != 308:
            return UploadProgress(self.size_bytes, id_of(json_object_or_none(response) or {}))
        header = response.headers.get("Range")
        if not header:
            return UploadProgress(0)
        found = _RANGE.fullmatch(header)
        if found is None:
            raise UnreadableAnswer("The response does not say how much was received.")
        return UploadProgress(min(int(found[1]) + 1, self.size_bytes))


def open_session_and_return_url(api: Api, file: MediaFile, resource: Mapping[str, Any], params: Mapping[str, str]) -> str:
    """Open an upload session for a video at YouTube. Returns its URL. Raises YouTubeError, NotSent, SentWithoutAnswer."""
    response = api.send_to_url(
        "POST",
        f"{api.address}/upload/youtube/v3/videos",
        params={"uploadType": "resumable", "part": "snippet,status", **params},
        headers={"X-Upload-Content-Length": str(file.size_bytes), "X-Upload-Content-Type": file.mime_type},
        json=dict(resource),
    )
    address = response.headers.get("Location", "")
    if not is_platform_upload_url(address, api.address, UPLOAD_DOMAIN):
        raise UnreadableAnswer("The response names no upload session at Google.")
    return str(address)
