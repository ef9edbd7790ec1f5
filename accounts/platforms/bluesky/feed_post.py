"""A post as a record: built and frozen once, then put under its key as often as it takes.

putRecord with `swapRecord: null` writes the record where there is none, does nothing where the identical one stands,
and refuses with InvalidSwap where another stands. So with the same key and the same record it may be repeated at will.
A record whose blobs the server has let go is refused (BlobNotFound, or an error of its own where only the bytes are
gone); one that stands already is not looked at for its blobs.
Source: bluesky-social/atproto, com.atproto.repo.putRecord and its reference implementation.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from django.utils import timezone

from accounts.platforms.bluesky.richtext import detect, facets
from accounts.platforms.bluesky.session import DID
from accounts.platforms.bluesky.xrpc import XrpcError, platform_error, procedure, query, refusal
from accounts.platforms.errors import ContentRejected, OutcomeUnknown, PlatformError, Transient
from accounts.platforms.types import Content, Published
from config.outbound import NoAnswer, NotSent, OutboundError

COLLECTION = "app.bsky.feed.post"
RESOLVE_SECONDS = 15.0  # for all mentions of a post together
LOOK_SECONDS = 10.0
ABSENT: dict[str, Any] = {}


class BlobsGone(Exception):
    """Nothing was written, for the server no longer has the record's blobs; `fault` says what that is without them."""

    def __init__(self, fault: PlatformError) -> None:
        super().__init__(fault.message)
        self.fault = fault


def build(content: Content, pds: str, embed: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The record of this content at this moment, with its media in `embed`; mentions are resolved by the server `pds`.

    Raises XrpcError and OutboundError when a handle cannot be resolved just now.
    """
    spans = detect(content.text)
    dids = resolve_handles(pds, (span.value for span in spans if span.kind == "mention"))
    record: dict[str, Any] = {
        "$type": COLLECTION,
        "text": content.text,
        "createdAt": timezone.now().isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }
    if content.options.get("langs"):
        record["langs"] = list(content.options["langs"])
    if live := facets(content.text, spans, dids):
        record["facets"] = live
    if embed:
        record["embed"] = dict(embed)
    return record


def resolve_handles(pds: str, handles: Iterable[str]) -> dict[str, str]:
    """The DIDs by handle; a handle that nobody has is left out. Raises XrpcError, OutboundError for passing faults."""
    deadline = time.monotonic() + RESOLVE_SECONDS
    dids = {}
    for handle in dict.fromkeys(handles):
        try:
            answer = query(
                pds,
                "com.atproto.identity.resolveHandle",
                params={"handle": handle},
                timeout=deadline - time.monotonic(),
            )
        except XrpcError as error:
            if 400 <= error.status < 500 and error.status != 429:
                continue
            raise
        did = answer.get("did")
        if isinstance(did, str) and DID.fullmatch(did):
            dids[handle] = did
    return dids


def put(pds: str, access_token: str, did: str, rkey: str, record: Mapping[str, Any]) -> Published:
    """Put the record under its key, or find it there.

    Raises platform errors, where OutcomeUnknown means: put it again; BlobsGone.
    """
    uri = f"at://{did}/{COLLECTION}/{rkey}"
    published = Published(uri, f"https://bsky.app/profile/{did}/post/{rkey}")
    body = {"repo": did, "collection": COLLECTION, "rkey": rkey, "record": record, "swapRecord": None}
    key_taken = blobs_lost = False
    try:
        answer = procedure(pds, "com.atproto.repo.putRecord", body=body, token=access_token)
        if answer.get("uri") == uri:
            return published
    except NotSent as error:
        raise platform_error(error) from error
    except NoAnswer:
        pass  # looked for below, like every answer that leaves the outcome open
    except XrpcError as error:
        if _names_a_lost_blob(error):
            raise BlobsGone(Transient("Bluesky lost the files of the post.")) from error
        key_taken = error.name == "InvalidSwap"
        blobs_lost = error.status == 500 and error.name == "InternalServerError" and "embed" in record
        if error.status < 500 and not key_taken:
            raise refusal(error) from error
    there = _look(pds, did, rkey)
    if there and all(there.get(key) == value for key, value in record.items()):
        return published
    if there and key_taken:
        raise ContentRejected("Another post stands under this post's key.")
    unknown = OutcomeUnknown("Bluesky did not say whether it took the post, and the post is not there to be seen.")
    if there == ABSENT and blobs_lost:
        raise BlobsGone(unknown)
    raise unknown


def _names_a_lost_blob(error: XrpcError) -> bool:
    return error.status == 400 and (error.name == "BlobNotFound" or error.message.startswith("Could not find blob"))


def _look(pds: str, did: str, rkey: str) -> dict[str, Any] | None:
    """The record that stands under the key; ABSENT when there is none, None when the server does not say."""
    params = {"repo": did, "collection": COLLECTION, "rkey": rkey}
    try:
        value = query(pds, "com.atproto.repo.getRecord", params=params, timeout=LOOK_SECONDS).get("value")
    except XrpcError as error:
        return ABSENT if error.name == "RecordNotFound" else None
    except OutboundError:
        return None
    return value if isinstance(value, dict) else None
