"""The blobs of the Bluesky stand-in behave as those of a reference PDS (@atproto/dev-env 0.6.7)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.bluesky_blobs import Blobs
from tests.fakes.xrpc import XrpcError

DID = "did:plc:abc"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(16)


def refusal(blobs: Blobs, *references: dict[str, Any]) -> tuple[int, str]:
    with pytest.raises(XrpcError) as caught:
        blobs.refer(DID, references)
    return caught.value.status, caught.value.error


def film(brand: bytes) -> bytes:
    return b"\x00\x00\x00\x18ftyp" + brand + bytes(500)


@pytest.mark.parametrize(
    ("data", "declared", "expected"),
    [
        (PNG, "image/jpeg", "image/png"),
        (film(b"isom"), "video/webm", "video/mp4"),
        (film(b"avc1"), "video/webm", "video/mp4"),
        (film(b"qt  "), "video/mp4", "video/quicktime"),
        (film(b"M4V "), "video/mp4", "video/x-m4v"),
        (film(b"avif"), "image/png", "image/avif"),
        (b"%PDF-1.7\n", "image/png", "application/pdf"),
        (b"hello", "image/png", "image/png"),
    ],
)
def test_the_media_type_is_detected_from_the_bytes_or_else_the_declared_one(
    data: bytes, declared: str, expected: str
) -> None:
    blob = Blobs().store(DID, data, declared)["blob"]

    assert (blob["mimeType"], blob["size"]) == (expected, len(data))


def test_a_blob_is_named_by_its_bytes() -> None:
    blob = Blobs().store(DID, b"hello", "image/png")["blob"]

    assert blob["ref"]["$link"] == "bafkreibm6jg3ux5qumhcn2b3flc3tyu6dmlb4xa7u5bf44yegnrjhc4yeq"


def test_a_record_must_refer_to_a_blob_as_it_is_stored() -> None:
    blobs = Blobs()
    blob = blobs.store(DID, PNG, "image/png")["blob"]

    assert refusal(blobs, {**blob, "size": 1}) == (400, "InvalidSize")
    assert refusal(blobs, {**blob, "mimeType": "image/jpeg"}) == (400, "InvalidMimeType")
    assert refusal(blobs, blob, {**blob, "ref": {"$link": "bafkrei" + "a" * 52}}) == (400, "BlobNotFound")
    assert not blobs.of(DID)[0].permanent
    blobs.refer(DID, [blob])
    assert blobs.of(DID)[0].permanent


@pytest.mark.parametrize(
    ("rows", "expected"), [(True, (400, "BlobNotFound")), (False, (500, "InternalServerError"))], ids=["rows", "bytes"]
)
def test_what_no_record_refers_to_is_collected_until_it_is_uploaded_again(rows: bool, expected: tuple[int, str]) -> None:
    blobs = Blobs()
    used, unused = (blobs.store(DID, data, "image/png")["blob"] for data in (b"used", b"unused"))
    blobs.refer(DID, [used])
    blobs.collect(rows=rows)

    blobs.refer(DID, [used])
    assert refusal(blobs, unused) == expected
    assert blobs.store(DID, b"unused", "image/png")["blob"] == unused
    blobs.refer(DID, [unused])
