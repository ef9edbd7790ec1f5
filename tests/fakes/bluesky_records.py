"""Validation of app.bsky.feed.post records: the lexicon as data, read by a few small checks.

Sources: the lexicons of bluesky-social/atproto; messages measured against a reference PDS (@atproto/dev-env 0.6.7).

Stricter than that server on purpose, because it takes the following in silence and the post then shows dead text or
nothing at all: facet offsets must lie inside the text on UTF-8 character boundaries with end > start and with at least
one feature, embeds and facet features must be of a type in the lexicon, `$type` must be present, createdAt must be a real
moment and end in Z.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import regex

from tests.fakes.xrpc import invalid_request

POST_TYPE = "app.bsky.feed.post"

Check = Callable[[Any, str], None]
"""A check of a value at a path ($.record.text) of a Bluesky record; raises XrpcError InvalidRequest."""

FORMATS = {
    "datetime": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,20})?Z",
    "uri": r"[A-Za-z][A-Za-z0-9+.-]*:[^\s]+",
    "at-uri": r"at://[A-Za-z0-9.:_%-]+/[A-Za-z0-9.-]+/[A-Za-z0-9._:~-]+",
    "DID": r"did:[a-z]+:[A-Za-z0-9._:%-]*[A-Za-z0-9._-]",
    "CID string": r"baf[a-z2-7]{56}",
    "language": r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*",
}


def check_record(record: Any, path: str = "$.record") -> None:
    """Raise XrpcError 400 InvalidRequest unless `record` is a whole and valid app.bsky.feed.post."""
    if not isinstance(record, dict):
        raise _wrong_type("object", record, path)
    if record.get("$type") != POST_TYPE:
        raise invalid_request(f"Invalid $type: expected {POST_TYPE}, got {record.get('$type')}")
    _POST(record, path)
    for number, facet in enumerate(record.get("facets", [])):
        _check_offsets(record["text"], facet["index"], f"{path}.facets[{number}].index")


def blobs_in(value: Any) -> list[dict[str, Any]]:
    """All blob references inside a Bluesky record."""
    if isinstance(value, dict):
        return [value] if value.get("$type") == "blob" else [blob for part in value.values() for blob in blobs_in(part)]
    if isinstance(value, list):
        return [blob for part in value for blob in blobs_in(part)]
    return []


def _check_offsets(text: str, index: Mapping[str, int], path: str) -> None:
    start, end = index["byteStart"], index["byteEnd"]
    encoded = text.encode()
    if not start < end <= len(encoded):
        raise _invalid(f"bytes {start}-{end} are not a range inside the text's {len(encoded)} bytes at {path}")
    for offset in (start, end):
        if offset < len(encoded) and encoded[offset] & 0xC0 == 0x80:
            raise _invalid(f"byte {offset} lies inside a UTF-8 character at {path}")


def _invalid(message: str) -> Exception:
    return invalid_request(f"Invalid {POST_TYPE} record: {message}")


def _wrong_type(expected: str, value: Any, path: str) -> Exception:
    return _invalid(f"Expected {expected} value type (got {json.dumps(value, ensure_ascii=False)}) at {path}")


def _string(*, form: str = "", max_bytes: int | None = None, max_graphemes: int | None = None) -> Check:
    def check(value: Any, path: str) -> None:
        if not isinstance(value, str):
            raise _wrong_type("string", value, path)
        if max_bytes is not None and (size := len(value.encode())) > max_bytes:
            raise _invalid(f"string too big (maximum {max_bytes}, got {size}) at {path}")
        if max_graphemes is not None and (count := len(regex.findall(r"\X", value))) > max_graphemes:
            raise _invalid(f"grapheme too big (maximum {max_graphemes}, got {count}) at {path}")
        if form and not _has_form(value, form):
            raise _invalid(f'Invalid {form} (got "{value}") at {path}')

    return check


def _has_form(value: str, form: str) -> bool:
    if not regex.fullmatch(FORMATS[form], value):
        return False
    if form != "datetime":
        return True
    try:
        datetime.fromisoformat(value[:19] + "Z")
    except ValueError:
        return False
    return True


def _integer(minimum: int) -> Check:
    def check(value: Any, path: str) -> None:
        if not isinstance(value, int) or isinstance(value, bool):
            raise _wrong_type("integer", value, path)
        if value < minimum:
            raise _invalid(f"integer too small (minimum {minimum}, got {value}) at {path}")

    return check


def _array(item: Check, maximum: int | None = None, minimum: int = 0) -> Check:
    def check(value: Any, path: str) -> None:
        if not isinstance(value, list):
            raise _wrong_type("array", value, path)
        if maximum is not None and len(value) > maximum:
            raise _invalid(f"array too big (maximum {maximum}, got {len(value)}) at {path}")
        if len(value) < minimum:
            raise _invalid(f"array too small (minimum {minimum}, got {len(value)}) at {path}")
        for number, element in enumerate(value):
            item(element, f"{path}[{number}]")

    return check


def _object(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    checks = {**required, **(optional or {})}

    def check(value: Any, path: str) -> None:
        if not isinstance(value, dict):
            raise _wrong_type("object", value, path)
        for key in required:
            if key not in value:
                raise _invalid(f'Missing required key "{key}" at {path}')
        for key, part in value.items():
            if key in checks:
                checks[key](part, f"{path}.{key}")

    return check


def _union(members: Mapping[str, Check]) -> Check:
    def check(value: Any, path: str) -> None:
        if not isinstance(value, dict) or "$type" not in value:
            raise _wrong_type('an object which includes the "$type" property', value, path)
        if value["$type"] not in members:
            raise _invalid(f'Unknown type "{value["$type"]}" at {path}')
        members[value["$type"]](value, path)

    return check


def _blob(accept: str, max_size: int) -> Check:
    def check(value: Any, path: str) -> None:
        if not _is_blob(value):
            raise _wrong_type("blob", value, path)
        if not regex.fullmatch(accept.replace("*", "[^/]+"), value["mimeType"]):
            raise _invalid(f'Expected "{accept}" (got "{value["mimeType"]}") at {path}.mimeType')
        if value["size"] > max_size:
            raise _invalid(f"blob too big (maximum {max_size}, got {value['size']}) at {path}")

    return check


def _is_blob(value: Any) -> bool:
    match value:
        case {"$type": "blob", "ref": {"$link": str(cid)}, "mimeType": str(), "size": int()}:
            return len(value) == 4 and regex.fullmatch(FORMATS["CID string"], cid) is not None
    return False


_TAG = _string(max_bytes=640, max_graphemes=64)
_STRONG_REF = _object({"uri": _string(form="at-uri"), "cid": _string(form="CID string")})
_ASPECT_RATIO = _object({"width": _integer(1), "height": _integer(1)})
_IMAGE_BLOB = _blob("image/*", 2_000_000)

_FACET = _object(
    {
        "index": _object({"byteStart": _integer(0), "byteEnd": _integer(0)}),
        "features": _array(
            _union(
                {
                    "app.bsky.richtext.facet#link": _object({"uri": _string(form="uri")}),
                    "app.bsky.richtext.facet#mention": _object({"did": _string(form="DID")}),
                    "app.bsky.richtext.facet#tag": _object({"tag": _TAG}),
                }
            ),
            minimum=1,
        ),
    }
)

_CAPTION = _object({"lang": _string(form="language"), "file": _blob("text/vtt", 20_000)})
_MEDIA: dict[str, Check] = {
    "app.bsky.embed.images": _object(
        {"images": _array(_object({"image": _IMAGE_BLOB, "alt": _string()}, {"aspectRatio": _ASPECT_RATIO}), 4)}
    ),
    "app.bsky.embed.gallery": _object(
        {
            "items": _array(
                _union(
                    {
                        "app.bsky.embed.gallery#image": _object(
                            {"image": _IMAGE_BLOB, "alt": _string(), "aspectRatio": _ASPECT_RATIO}
                        )
                    }
                ),
                20,
            )
        }
    ),
    "app.bsky.embed.video": _object(
        {"video": _blob("video/mp4", 300_000_000)},
        {"alt": _string(), "aspectRatio": _ASPECT_RATIO, "captions": _array(_CAPTION, 20)},
    ),
    "app.bsky.embed.external": _object(
        {
            "external": _object(
                {"uri": _string(form="uri"), "title": _string(), "description": _string()},
                {"thumb": _blob("image/*", 1_000_000)},
            )
        }
    ),
}
_QUOTE = _object({"record": _STRONG_REF})
_EMBEDS: dict[str, Check] = {
    **_MEDIA,
    "app.bsky.embed.record": _QUOTE,
    "app.bsky.embed.recordWithMedia": _object({"record": _QUOTE, "media": _union(_MEDIA)}),
}
_SELF_LABELS = _object({"values": _array(_object({"val": _string(max_bytes=128)}), 10)})

_POST = _object(
    {"text": _string(max_bytes=3000, max_graphemes=300), "createdAt": _string(form="datetime")},
    {
        "langs": _array(_string(form="language"), 3),
        "facets": _array(_FACET),
        "embed": _union(_EMBEDS),
        "reply": _object({"root": _STRONG_REF, "parent": _STRONG_REF}),
        "tags": _array(_TAG, 8),
        "labels": _union({"com.atproto.label.defs#selfLabels": _SELF_LABELS}),
    },
)
