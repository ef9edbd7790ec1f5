"""Blobs of the Bluesky stand-in: uploaded files, named by their bytes, stored permanently once a record refers to them.

Not thread-safe: the caller holds the stand-in's lock. Names, statuses and messages measured against a reference PDS. The
type is detected from the first bytes; the type that a client declares counts only if none is detected.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.fakes.xrpc import XrpcError

DAG_CBOR, RAW = 0x71, 0x55  # the codecs of record and blob CIDs

MAGIC = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif", b"%PDF": "application/pdf"}
BRANDS = {b"qt  ": "video/quicktime", b"M4V ": "video/x-m4v", b"M4A ": "audio/x-m4a", b"avif": "image/avif"}


@dataclass
class Blob:
    """A file of a Bluesky account. `permanent`: a record refers to it, or did. `bytes_gone`: only its row is left."""

    did: str
    cid: str
    mime_type: str
    data: bytes
    permanent: bool = False
    bytes_gone: bool = False

    def reference(self) -> dict[str, Any]:
        """The JSON by which a Bluesky record refers to the blob."""
        size = len(self.data)
        return {"$type": "blob", "ref": {"$link": self.cid}, "mimeType": self.mime_type, "size": size}


class Blobs:
    """The blobs of all accounts of the Bluesky stand-in."""

    def __init__(self) -> None:
        self._blobs: dict[tuple[str, str], Blob] = {}  # (did, cid); in order of the first upload

    def store(self, did: str, data: bytes, declared: str) -> dict[str, Any]:
        """Store a blob as uploadBlob does. The same bytes are the same blob, whose type does not change."""
        blob = Blob(did, cid(RAW, data), _sniff(data) or declared, data)
        self._blobs.setdefault((did, blob.cid), blob).bytes_gone = False
        return {"blob": blob.reference()}

    def refer(self, did: str, references: Iterable[dict[str, Any]]) -> None:
        """Make blobs permanent because a Bluesky record refers to them. Raises XrpcError for a reference without its blob."""
        found = [self._checked(did, reference) for reference in references]
        for blob in found:
            blob.permanent = True

    def of(self, did: str) -> list[Blob]:
        """The blobs of a Bluesky account."""
        return [blob for blob in self._blobs.values() if blob.did == did]

    def collect(self, *, rows: bool) -> None:
        """Delete the blobs that no Bluesky record has referred to: rows and bytes, or only the bytes."""
        for key, blob in list(self._blobs.items()):
            if not blob.permanent and rows:
                del self._blobs[key]
            blob.bytes_gone = not blob.permanent

    def _checked(self, did: str, reference: dict[str, Any]) -> Blob:
        named = reference["ref"]["$link"]
        blob = self._blobs.get((did, named))
        if blob is None:
            raise XrpcError(400, "BlobNotFound", f"Could not find blob: {named}")
        stored = blob.reference()
        for key, word in (("mimeType", "Mimetype"), ("size", "Size")):
            if not blob.permanent and reference[key] != stored[key]:
                message = f"Referenced {word} does not match stored blob. Expected: {stored[key]}, Got: {reference[key]}"
                raise XrpcError(400, f"Invalid{key[0].upper()}{key[1:]}", message)
        if blob.bytes_gone:
            raise XrpcError(500, "InternalServerError", "Internal Server Error")
        return blob


def cid(codec: int, content: bytes) -> str:
    """The content id (version 1, SHA-256) of a Bluesky blob or record; records are hashed as JSON instead of CBOR."""
    binary = bytes([1, codec, 0x12, 32]) + hashlib.sha256(content).digest()
    return "b" + base64.b32encode(binary).decode().lower().rstrip("=")


def _sniff(data: bytes) -> str | None:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data[4:8] == b"ftyp":
        return BRANDS.get(data[8:12], "video/mp4")
    return next((kind for magic, kind in MAGIC.items() if data.startswith(magic)), None)
