"""A video's bytes on their way to TikTok: in chunks, one after another, to an address that is good for an hour.

Chunks have between five and 64 million bytes, and the last one takes what is left over; a video of less than two chunks
goes as one. The address needs no token, so none is sent there. Source: developers.tiktok.com, media transfer guide.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import BinaryIO

from accounts.platforms.errors import ContentRejected, RateLimited, Transient, unmapped
from accounts.platforms.tiktok.client import MAX_ANSWER_BYTES, MINUTE_SECONDS
from accounts.platforms.types import MediaFile
from config.outbound import Response, request

CHUNK_BYTES = 10_000_000
CHUNK_SECONDS = 300.0
OUT_OF_STEP, ENDED = 416, (403, 404, 410)


class TransferEnded(Exception):
    """TikTok takes nothing more at this address."""


class OutOfStep(Exception):
    """TikTok has other bytes than those before this chunk."""


class OwnFault(Exception):
    """TikTok met a fault of its own; it may have the chunk."""


@dataclass(frozen=True)
class Transfer:
    """A video to be sent to `address`, which opens the upload to whoever has it."""

    address: str = field(repr=False)
    file: MediaFile

    def send(self, opened: BinaryIO, index: int) -> None:
        """Send this chunk, counted from 0. Raises TransferEnded, OutOfStep, OwnFault, NotSent, NoAnswer, and ContentRejected
        or Transient where nothing was taken."""
        start, end = self._span(index)
        opened.seek(start)
        chunk = opened.read(end - start)
        headers = {
            "Content-Type": self.file.mime_type,
            "Content-Range": f"bytes {start}-{end - 1}/{self.file.size_bytes}",
        }
        _check(
            request(
                "PUT",
                self.address,
                data=chunk,
                headers=headers,
                timeout=CHUNK_SECONDS,
                max_bytes=MAX_ANSWER_BYTES,
            )
        )

    def _span(self, index: int) -> tuple[int, int]:
        size, count = plan(self.file)
        last = index == count - 1
        return index * size, self.file.size_bytes if last else (index + 1) * size


def plan(file: MediaFile) -> tuple[int, int]:
    """The bytes of a chunk, and how many chunks the file has."""
    if file.size_bytes < 2 * CHUNK_BYTES:
        return file.size_bytes, 1
    return CHUNK_BYTES, file.size_bytes // CHUNK_BYTES


def _check(answer: Response) -> None:
    status = answer.status
    if 200 <= status < 300:
        return
    if status in ENDED:
        raise TransferEnded
    if status == OUT_OF_STEP:
        raise OutOfStep
    if status >= 500:
        raise OwnFault(str(status))
    if status == 429:
        raise RateLimited("TikTok's rate limit is reached.", retry_after=MINUTE_SECONDS)
    if status in (400, 413, 415):
        raise ContentRejected(f"TikTok does not take the video's bytes: it answered {status}.")
    unmapped("tiktok", f"{status} to a chunk")
    raise Transient(f"TikTok answered {status} to the video's bytes.")
