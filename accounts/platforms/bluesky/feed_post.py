"""Bluesky posts as AT Protocol records: building a post's record once, and sending it until the server confirms it.

putRecord with `swapRecord: null` creates the record, does nothing if the identical one exists, and answers InvalidSwap if
another one does. So it may be repeated with the same key and record. A record whose blobs the server has removed is refused
(BlobNotFound, or an error of its own if only the bytes are gone), but the blobs of an existing record are not checked.
The key is a TID, which sorts by time: 64 bits as 13 characters, namely a zero bit, 53 bits of microseconds since 1970 and 10
bits of clock id. Sources: bluesky-social/atproto, com.atproto.repo.putRecord and its reference implementation;
atproto.com/specs/tid.
"""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_noop

from accounts.platforms.bluesky.richtext import facets_of_spans, find_links_mentions_and_tags
from accounts.platforms.bluesky.session import DID
from accounts.platforms.bluesky.xrpc import ERRORS, Xrpc, XrpcError
from accounts.platforms.errors import ContentRejected, OutcomeUnknown, PlatformError, Transient
from config.outbound import NotSent, OutboundError, SentWithoutAnswer

POST_COLLECTION = "app.bsky.feed.post"
RESOLVE_SECONDS = 15.0  # for all mentions of a post together
READ_SECONDS = 10.0
RECORD_NOT_FOUND: dict[str, Any] = {}
TID_ALPHABET = "234567abcdefghijklmnopqrstuvwxyz"  # in ASCII order, so that TIDs sort as their numbers do

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CID = re.compile(r"[A-Za-z0-9]{1,128}")  # any multibase of a content id, most often base32

RecordRef = Mapping[str, str]  # {uri, cid} of a record, by which others refer to it


class BlobsGone(Exception):
    """Raised if a Bluesky post was not created because the server no longer has the post's uploaded files.

    `error` is the one to raise if they are not uploaded again.
    """

    def __init__(self, error: PlatformError) -> None:
        super().__init__(error.message)
        self.error = error


class TidClock:
    """A generator of TIDs (time-based keys of Bluesky posts) that always increase, even if the system clock goes back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def next(self) -> str:
        """Return a new TID, the time-based key under which the next Bluesky post is stored.

        Its clock id is random, so that the processes of one service choose different TIDs.
        """
        now = (timezone.now() - _EPOCH) // timedelta(microseconds=1)
        with self._lock:
            self._last = max(now, self._last + 1)
            return encode_tid(self._last, secrets.randbits(10))


def encode_tid(microseconds: int, clock_id: int) -> str:
    """Return the TID (key of a Bluesky post) for a time in microseconds since 1970 and a clock id of 0 to 1023."""
    value = microseconds << 10 | clock_id
    return "".join(TID_ALPHABET[value >> shift & 31] for shift in range(60, -1, -5))


def resolve_handles_and_build_record(
    server: Xrpc,
    text: str,
    options: Mapping[str, Any],
    *,
    embed: Mapping[str, Any] | None = None,
    thread: Sequence[RecordRef] = (),
) -> dict[str, Any]:
    """Return the record (JSON) of a Bluesky post: text, time of creation, files or link card, and the posts it replies to.

    The server resolves mentions. Raises XrpcError and OutboundError if a handle cannot be resolved for now.
    """
    spans = find_links_mentions_and_tags(text)
    dids = resolve_handles(server.address, (span.value for span in spans if span.kind == "mention"))
    record: dict[str, Any] = {
        "$type": POST_COLLECTION,
        "text": text,
        "createdAt": timezone.now().isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }
    if options.get("langs"):
        record["langs"] = list(options["langs"])
    if detected := facets_of_spans(text, spans, dids):
        record["facets"] = detected
    if embed:
        record["embed"] = dict(embed)
    if thread:
        record["reply"] = {"root": dict(thread[0]), "parent": dict(thread[-1])}
    return record


def resolve_handles(address: str, handles: Iterable[str]) -> dict[str, str]:
    """Resolve the handles that a Bluesky post mentions to DIDs (account ids) for the post's record; omits unknown handles.

    Raises XrpcError, OutboundError for temporary errors.
    """
    deadline = time.monotonic() + RESOLVE_SECONDS
    dids = {}
    for handle in dict.fromkeys(handles):
        try:
            answer = Xrpc(address).query(
                "com.atproto.identity.resolveHandle", {"handle": handle}, timeout=deadline - time.monotonic()
            )
        except XrpcError as error:
            if 400 <= error.status < 500 and error.status != 429:
                continue
            raise
        did = answer.get("did")
        if isinstance(did, str) and DID.fullmatch(did):
            dids[handle] = did
    return dids


def create_record_once(server: Xrpc, did: str, rkey: str, record: Mapping[str, Any]) -> dict[str, str]:
    """Create a Bluesky post's record, unless the server already has it. Returns {uri, cid}.

    The cid is empty if the server does not say it.

    Raises platform errors, of which OutcomeUnknown means that the record should be put again, and BlobsGone.
    """
    uri = f"at://{did}/{POST_COLLECTION}/{rkey}"
    body = {"repo": did, "collection": POST_COLLECTION, "rkey": rkey, "record": record, "swapRecord": None}
    key_taken = blobs_lost = False
    try:
        answer = server.procedure("com.atproto.repo.putRecord", body)
        if answer.get("uri") == uri:
            return _ref(uri, answer)
    except NotSent as error:
        raise ERRORS.translate_repeatable_call_error(error) from error
    except SentWithoutAnswer:
        pass  # the record is read below, as after every response that leaves the outcome open
    except XrpcError as error:
        if _names_a_lost_blob(error):
            raise BlobsGone(Transient(gettext_noop("Bluesky lost the files of the post."))) from error
        key_taken = error.code == "InvalidSwap"
        blobs_lost = error.status == 500 and error.code == "InternalServerError" and "embed" in record
        if error.status < 500 and not key_taken:
            raise ERRORS.translate_content_call_error(error, "this post") from error
    existing = _read(server.address, did, rkey)
    # Without the embed: an earlier attempt may have named other blobs for the same files.
    if existing and all(existing["value"].get(key) == value for key, value in record.items() if key != "embed"):
        return _ref(uri, existing)
    if existing and key_taken:
        raise ContentRejected(gettext_noop("Another post exists under this post's key."))
    unknown = OutcomeUnknown(gettext_noop("Bluesky did not say whether it published the post, and the post cannot be read."))
    if existing == RECORD_NOT_FOUND and blobs_lost:
        raise BlobsGone(unknown)
    raise unknown


def permalink(ref: RecordRef) -> str:
    """Return the URL of the web page that shows a Bluesky post, made from the URI of the post's record."""
    _, _, did, _, rkey = ref["uri"].split("/")
    return f"https://bsky.app/profile/{did}/post/{rkey}"


def _ref(uri: str, answer: Mapping[str, Any]) -> dict[str, str]:
    cid = answer.get("cid")
    return {"uri": uri, "cid": cid if isinstance(cid, str) and _CID.fullmatch(cid) else ""}


def _names_a_lost_blob(error: XrpcError) -> bool:
    return error.status == 400 and (error.code == "BlobNotFound" or error.reason.startswith("Could not find blob"))


def _read(address: str, did: str, rkey: str) -> dict[str, Any] | None:
    """Read a Bluesky post from its server; RECORD_NOT_FOUND ({}) if it does not exist, None if the server fails."""
    params = {"repo": did, "collection": POST_COLLECTION, "rkey": rkey}
    try:
        answer = Xrpc(address).query("com.atproto.repo.getRecord", params, timeout=READ_SECONDS)
    except XrpcError as error:
        return RECORD_NOT_FOUND if error.code == "RecordNotFound" else None
    except OutboundError:
        return None
    return answer if isinstance(answer.get("value"), dict) else None
