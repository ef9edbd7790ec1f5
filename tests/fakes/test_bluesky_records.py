"""The Bluesky stand-in validates records by the lexicon, as a reference PDS does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.bluesky_records import POST_TYPE, blobs_in, check_record
from tests.fakes.xrpc import XrpcError

REF = {"uri": f"at://did:plc:abc/{POST_TYPE}/3l25zusnsfck2", "cid": "bafyrei" + "a" * 52}
BLOB = {"$type": "blob", "ref": {"$link": "bafkrei" + "a" * 52}, "mimeType": "image/png", "size": 70}
IMAGE = {"image": BLOB, "alt": ""}
TEXT = "Hi @bob.bsky.social — voilà https://ex.com/é"  # the link is bytes 31-48, the dash bytes 20-23
FAMILY = "👨‍👩‍👧‍👦"  # one grapheme of 25 bytes


def record(**changes: Any) -> dict[str, Any]:
    return {"$type": POST_TYPE, "text": TEXT, "createdAt": "2026-11-20T12:00:00.000Z", **changes}


def facet(start: int, end: int, feature: dict[str, Any]) -> dict[str, Any]:
    return {"facets": [{"index": {"byteStart": start, "byteEnd": end}, "features": [feature]}]}


def link(start: int, end: int, uri: str = "https://ex.com/é") -> dict[str, Any]:
    return facet(start, end, {"$type": "app.bsky.richtext.facet#link", "uri": uri})


def images(*several: dict[str, Any]) -> dict[str, Any]:
    return {"embed": {"$type": "app.bsky.embed.images", "images": list(several)}}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"text": "a" * 300},
        {"text": "e\u0301" * 300},
        {"text": FAMILY * 120},
        {"text": "", **images(IMAGE)},
        {"createdAt": "2026-11-20T12:00:00Z"},
        {"langs": ["en", "pt-BR", "zh-Hant"]},
        {"tags": ["a"] * 8},
        link(31, 48),
        facet(3, 19, {"$type": "app.bsky.richtext.facet#mention", "did": "did:plc:abc"}),
        facet(0, 2, {"$type": "app.bsky.richtext.facet#tag", "tag": "a"}),
        images(*[{**IMAGE, "aspectRatio": {"width": 3, "height": 2}}] * 4),
        {"reply": {"root": REF, "parent": REF}},
        {"embed": {"$type": "app.bsky.embed.record", "record": REF}},
        {"embed": {"$type": "app.bsky.embed.external", "external": {"uri": "a:b", "title": "", "description": ""}}},
        {"embed": {"$type": "app.bsky.embed.video", "video": {**BLOB, "mimeType": "video/mp4"}}},
    ],
)
def test_whole_records_pass(changes: dict[str, Any]) -> None:
    check_record(record(**changes))


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"text": "a" * 301}, "grapheme too big (maximum 300, got 301) at $.record.text"),
        ({"text": "🇩🇪" * 301}, "grapheme too big (maximum 300, got 301) at $.record.text"),
        ({"text": FAMILY * 121}, "string too big (maximum 3000, got 3025) at $.record.text"),
        ({"createdAt": "2026-11-20T12:00:00"}, 'Invalid datetime (got "2026-11-20T12:00:00") at $.record.createdAt'),
        ({"createdAt": "2026-13-20T12:00:00Z"}, 'Invalid datetime (got "2026-13-20T12:00:00Z") at $.record.createdAt'),
        ({"langs": ["en", "de", "fr", "es"]}, "array too big (maximum 3, got 4) at $.record.langs"),
        ({"langs": ["not a lang"]}, 'Invalid language (got "not a lang") at $.record.langs[0]'),
        ({"tags": ["a" * 65]}, "grapheme too big (maximum 64, got 65) at $.record.tags[0]"),
        ({"reply": {"root": REF}}, 'Missing required key "parent" at $.record.reply'),
        ({"reply": {"root": {**REF, "cid": "x"}, "parent": REF}}, 'Invalid CID string (got "x") at $.record.reply.root.cid'),
        (link(-1, 5), "integer too small (minimum 0, got -1) at $.record.facets[0].index.byteStart"),
        (link(0, 5, "ex.com"), 'Invalid uri (got "ex.com") at $.record.facets[0].features[0].uri'),
        (images({"image": BLOB}), 'Missing required key "alt" at $.record.embed.images[0]'),
        (images(*[IMAGE] * 5), "array too big (maximum 4, got 5) at $.record.embed.images"),
        (
            images({**IMAGE, "image": {**BLOB, "size": 2_000_001}}),
            "blob too big (maximum 2000000, got 2000001) at $.record.embed.images[0].image",
        ),
        (
            {"embed": {"$type": "app.bsky.embed.video", "video": BLOB}},
            'Expected "video/mp4" (got "image/png") at $.record.embed.video.mimeType',
        ),
    ],
)
def test_malformed_records_are_refused_in_the_words_of_the_reference_server(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(XrpcError) as refusal:
        check_record(record(**changes))

    assert (refusal.value.status, refusal.value.error) == (400, "InvalidRequest")
    assert refusal.value.message == f"Invalid {POST_TYPE} record: {complaint}"


@pytest.mark.parametrize("key", ["$type", "text", "createdAt"])
def test_required_fields_are_required(key: str) -> None:
    whole = record()
    del whole[key]

    with pytest.raises(XrpcError, match="InvalidRequest"):
        check_record(whole)


@pytest.mark.parametrize(("start", "end"), [(31, 49), (31, 31), (48, 31), (21, 48), (3, 47), (31, 400)])
def test_facets_outside_the_text_or_inside_a_character_are_refused(start: int, end: int) -> None:
    with pytest.raises(XrpcError, match="facets"):
        check_record(record(**link(start, end)))


@pytest.mark.parametrize(
    "changes",
    [
        {"embed": {"$type": "app.bsky.embed.nope"}},
        {"embed": None},
        facet(0, 2, {"$type": "app.bsky.richtext.facet#nope"}),
        facet(0, 2, {"uri": "https://e.com"}),
    ],
)
def test_unknown_types_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(XrpcError, match="InvalidRequest"):
        check_record(record(**changes))


def test_blobs_are_found_at_any_depth() -> None:
    assert blobs_in(record(**images(IMAGE, IMAGE))) == [BLOB, BLOB]
