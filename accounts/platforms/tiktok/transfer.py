"""Sending a video's bytes to TikTok: in chunks, in order, to a URL that is valid for an hour.

A chunk has between five and 64 million bytes, and the last one includes the rest; a video of less than two chunks is sent as
one. The address needs no token, so none is sent. Source: developers.tiktok.com, media transfer guide.
"""

from __future__ import annotations

from typing import BinaryIO

from accounts.platforms.errors import PlatformError, RateLimited
from accounts.platforms.http.client import JsonClient
from accounts.platforms.http.errors import ErrorTranslator
from accounts.platforms.http.responses import ApiError
from accounts.platforms.tiktok.client import MINUTE_SECONDS
from accounts.platforms.types import MediaFile

CHUNK_BYTES = 10_000_000
CHUNK_SECONDS = 300.0
OUT_OF_STEP, ENDED = 416, (403, 404, 410)


class TransferEnded(Exception):
    """Raised if TikTok accepts no more bytes at the upload address."""


class OutOfStep(Exception):
    """Raised if the bytes that TikTok has are not exactly those before the chunk that is sent."""


class TransferErrors(ErrorTranslator[ApiError]):
    """Translates TikTok's errors when a chunk is sent."""

    name = "tiktok"
    label = "TikTok"
    error = ApiError

    def specific(self, error: ApiError) -> PlatformError | None:
        """Translate TikTok's rate limit, which lasts a minute, and its 401; None for all other errors.

        A 401 is not about the access token, because none was sent.
        """
        if error.status == 429:
            return RateLimited("TikTok's rate limit is reached.", retry_after=error.retry_after or MINUTE_SECONDS)
        return self.transient(error) if error.status == 401 else None

    def rejects_content(self, error: ApiError) -> bool:
        """Whether TikTok refuses the bytes of a chunk."""
        return error.status in (400, 413, 415)


TRANSFER_ERRORS = TransferErrors()


def send_chunk(address: str, file: MediaFile, opened: BinaryIO, index: int) -> None:
    """Send the chunk of a video with this index to TikTok. Raises TransferEnded, OutOfStep, ApiError, NotSent, NoAnswer."""
    size, count = chunks_of(file)
    start, end = index * size, file.size_bytes if index == count - 1 else (index + 1) * size
    opened.seek(start)
    headers = {"Content-Type": file.mime_type, "Content-Range": f"bytes {start}-{end - 1}/{file.size_bytes}"}
    chunk = opened.read(end - start)
    try:
        JsonClient("").call("PUT", address, data=chunk, headers=headers, timeout=CHUNK_SECONDS)
    except ApiError as error:
        if error.status in ENDED:
            raise TransferEnded from error
        if error.status == OUT_OF_STEP:
            raise OutOfStep from error
        raise


def chunks_of(file: MediaFile) -> tuple[int, int]:
    """The size of a chunk for TikTok, and the number of chunks of the file."""
    if file.size_bytes < 2 * CHUNK_BYTES:
        return file.size_bytes, 1
    return CHUNK_BYTES, file.size_bytes // CHUNK_BYTES
