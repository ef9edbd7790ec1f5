"""A resumable upload: one session makes one video at the most, however often its bytes are sent.

Google answers the announcement of a file with the session's address, at which it takes the bytes in pieces and tells how
far it is: 308 with a `Range` of what it has, or the video once it is whole. A session lives about a week. Source:
developers.google.com/youtube/v3/guides/using_resumable_upload_protocol.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from accounts.platforms.types import MediaFile
from accounts.platforms.upload_addresses import is_own
from accounts.platforms.youtube.client import Api, UnreadableAnswer, YouTubeError, id_of, json_object
from config.outbound import Response

PIECE_BYTES = 8 * 1024 * 1024  # a multiple of 262,144, as Google asks of all pieces but the last
PIECE_SECONDS = 180.0
GOOGLE = "googleapis.com"
ENDED = (404, 410)
_RANGE = re.compile(r"bytes=0-([0-9]{1,15})")


class SessionEnded(Exception):
    """Google no longer knows the session."""


@dataclass(frozen=True)
class Standing:
    """How far an upload is: the bytes that Google has, and the video's id when it is whole."""

    received: int
    video_id: str | None = None


@dataclass(frozen=True)
class Session:
    """An upload under way. `address` opens it to whoever has it."""

    api: Api
    address: str = field(repr=False)
    size_bytes: int

    def standing(self) -> Standing:
        """Ask how far it is. Raises SessionEnded, YouTubeError, NotSent, NoAnswer."""
        return self._put(b"", f"bytes */{self.size_bytes}", 30.0)

    def send(self, piece: bytes, start: int) -> Standing:
        """Send a piece that begins at this byte. Raises as `standing`."""
        return self._put(piece, f"bytes {start}-{start + len(piece) - 1}/{self.size_bytes}", PIECE_SECONDS)

    def _put(self, piece: bytes, content_range: str, seconds: float) -> Standing:
        headers = {"Content-Range": content_range}
        try:
            answer = self.api.call("PUT", self.address, headers=headers, data=piece, timeout=seconds)
        except YouTubeError as error:
            if error.status in ENDED:
                raise SessionEnded from error
            raise
        return self._standing(answer)

    def _standing(self, answer: Response) -> Standing:
        if answer.status != 308:
            return Standing(self.size_bytes, id_of(json_object(answer)))
        told = answer.headers.get("Range")
        has = _RANGE.fullmatch(told) if told else None
        if told and has is None:
            raise UnreadableAnswer("The answer does not tell how far the upload is.")
        return Standing(min(int(has[1]) + 1, self.size_bytes) if has else 0)


def open_session(api: Api, file: MediaFile, resource: Mapping[str, Any], params: Mapping[str, str]) -> str:
    """Announce a file and what it is to be; the session's address. Raises YouTubeError, NotSent, NoAnswer."""
    answer = api.call(
        "POST",
        f"{api.address}/upload/youtube/v3/videos",
        params={"uploadType": "resumable", "part": "snippet,status", **params},
        headers={"X-Upload-Content-Length": str(file.size_bytes), "X-Upload-Content-Type": file.mime_type},
        json=dict(resource),
    )
    address = answer.headers.get("Location", "")
    if not is_own(address, api.address, GOOGLE):
        raise UnreadableAnswer("The answer names no upload session of Google's.")
    return str(address)
