"""A post as a record: built and frozen once, then put under its key as often as it takes.

putRecord with `swapRecord: null` writes the record where there is none, does nothing where the identical one stands,
and refuses with InvalidSwap where another stands. So with the same key and the same record it may be repeated at will.
A record whose blobs the server has let go is refused (BlobNotFound, or an error of its own where only the bytes are
gone); one that stands already is not looked at for its blobs.
Source: bluesky-social/atproto, com.atproto.repo.putRecord and its reference implementation.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils import timezone

from accounts.platforms.bluesky.richtext import detect, facets
from accounts.platforms.bluesky.session import DID
from accounts.platforms.bluesky.xrpc import XrpcError, platform_error, procedure, query, refusal
from accounts.platforms.errors import ContentRejected, OutcomeUnknown, PlatformError, Transient
from config.outbound import NoAnswer, NotSent, OutboundError

COLLECTION = "app.bsky.feed.post"
RESOLVE_SECONDS = 15.0  # for all mentions of a post together
LOOK_SECONDS = 10.0
ABSENT: dict[str, Any] = {}

_CID = re.compile(r"[A-Za-z0-9]{1,128}")  # any multibase of a content id, most often base32

Ref = Mapping[str, str]  # {uri, cid} of a record, as others refer to it


class BlobsGone(Exception):
    """Nothing was written, for the server no longer has the record's blobs; `fault` says what that is without them."""

    def __init__(self, fault: PlatformError) -> None:
        super().__init__(fault.message)
        self.fault = fault


def build(
    text: str,
    options: Mapping[str, Any],
    pds: str,
    *,
    embed: Mapping[str, Any] | None = None,
    thread: Sequence[Ref] = (),
) -> dict[str, Any]:
    """The record of this text at this moment, with its media in `embed` and the segments that stand before it in `thread`;
    mentions are resolved by the server `pds`.

    Raises XrpcError and OutboundError when a handle cannot be resolved just now.
    """
    spans = detect(text)
    dids = resolve_handles(pds, (span.value for span in spans if span.kind == "mention"))
    record: dict[str, Any] = {
        "$type": COLLECTION,
        "text": text,
        "createdAt": timezone.now().isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }
    if options.get("langs"):
        record["langs"] = list(options["langs"])
    if live := facets(text, spans, dids):
        record["facets"] = live
    if embed:
        record["embed"] = dict(embed)
    if thread:
        record["reply"] = {"root": dict(thread[0]), "parent": dict(thread[-1])}
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


def put(pds: str, access_token: str, did: str, rkey: str, record: Mapping[str, Any]) -> dict[str, str]:
    """Put the record under its key, or find it there; its {uri, cid}, the cid empty where the server does not tell it.

    Raises platform errors, where OutcomeUnknown means: put it again; BlobsGone.
    """
    uri = f"at://{did}/{COLLECTION}/{rkey}"
    body = {"repo": did, "collection": COLLECTION, "rkey": rkey, "record": record, "swapRecord": None}
    key_taken = blobs_lost = False
    try:
        answer = procedure(pds, "com.atproto.repo.putRecord", body=body, token=access_token)
        if answer.get("uri") == uri:
            return _ref(uri, answer)
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
    # Without the embed: an earlier try may have named other blobs for the same files.
    if there and all(there["value"].get(key) == value for key, value in record.items() if key != "embed"):
        return _ref(uri, there)
    if there and key_taken:
        raise ContentRejected("Another post stands under this post's key.")
    unknown = OutcomeUnknown("Bluesky did not say whether it took the post, and the post is not there to be seen.")
    if there == ABSENT and blobs_lost:
        raise BlobsGone(unknown)
    raise unknown


def permalink(ref: Ref) -> str:
    """Where the post of a record is shown."""
    _, _, did, _, rkey = ref["uri"].split("/")
    return f"https://bsky.app/profile/{did}/post/{rkey}"


def _ref(uri: str, answer: Mapping[str, Any]) -> dict[str, str]:
    cid = answer.get("cid")
    return {"uri": uri, "cid": cid if isinstance(cid, str) and _CID.fullmatch(cid) else ""}


def _names_a_lost_blob(error: XrpcError) -> bool:
    return error.status == 400 and (error.name == "BlobNotFound" or error.message.startswith("Could not find blob"))


def _look(pds: str, did: str, rkey: str) -> dict[str, Any] | None:
    """{value, cid} of what stands under the key; ABSENT when nothing does, None when the server does not say."""
    params = {"repo": did, "collection": COLLECTION, "rkey": rkey}
    try:
        answer = query(pds, "com.atproto.repo.getRecord", params=params, timeout=LOOK_SECONDS)
    except XrpcError as error:
        return ABSENT if error.name == "RecordNotFound" else None
    except OutboundError:
        return None
    return answer if isinstance(answer.get("value"), dict) else None
