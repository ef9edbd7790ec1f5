"""Records of the Bluesky stand-in's accounts.

Not thread-safe: the caller holds the stand-in's lock. Statuses and messages measured against a reference PDS. Left out:
`validate: false` (records are always validated), `swapCommit`, and `swapRecord` of deleteRecord.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import regex

from tests.fakes.bluesky_blobs import DAG_CBOR, Blobs, cid
from tests.fakes.bluesky_records import POST_TYPE, blobs_in, check_record
from tests.fakes.xrpc import XrpcError, invalid_request, require_keys

TID_ALPHABET = "234567abcdefghijklmnopqrstuvwxyz"
TID = r"[2-7a-j][2-7a-z]{12}"
RECORD_KEY = r"(?!\.\.?$)[A-Za-z0-9._:~-]{1,512}"
FIRST_SERVER_TID = 1_795_000_000_000_000 << 10  # microseconds, then 10 bits of clock id


@dataclass(frozen=True)
class Record:
    """A record in a repository of the Bluesky stand-in."""

    did: str
    rkey: str
    cid: str
    value: dict[str, Any]

    @property
    def uri(self) -> str:
        """The at:// address of the Bluesky record."""
        return f"at://{self.did}/{POST_TYPE}/{self.rkey}"


class Repos:
    """The repositories of all accounts of the Bluesky stand-in; posts are the only collection. `blobs` has their files."""

    def __init__(self) -> None:
        self.blobs = Blobs()
        self.records: dict[tuple[str, str], Record] = {}  # (did, rkey); in order of creation
        self.writes = 0  # records that came into being
        self._tids = itertools.count(FIRST_SERVER_TID, 1 << 10)

    def create(self, did: str, body: dict[str, Any]) -> dict[str, Any]:
        """Create a Bluesky record (createRecord). A key that exists is an internal error, as at the reference server."""
        require_keys(body, ("collection", "record"), "$")
        if "swapCommit" in body and not isinstance(body["swapCommit"], str):
            raise invalid_request("Expected string value type (got null) at $.swapCommit")
        record = self._checked(did, body.get("rkey", self._next_tid()), body)
        if (did, record.rkey) in self.records:
            raise XrpcError(500, "InternalServerError", "Internal Server Error")
        return self._write(record)

    def put(self, did: str, body: dict[str, Any]) -> dict[str, Any]:
        """Put a Bluesky record (putRecord): an identical one is a no-op, even if its blobs are gone.

        For another one `swapRecord` must be the present cid, or null if there is no record."""
        require_keys(body, ("collection", "rkey", "record"), "$")
        record = self._checked(did, body["rkey"], body)
        present = self.records.get((did, record.rkey))
        if present and present.cid == record.cid:
            return {"uri": record.uri, "cid": record.cid, "validationStatus": "valid"}
        present_cid = present.cid if present else None
        if "swapRecord" in body and body["swapRecord"] != present_cid:
            raise XrpcError(400, "InvalidSwap", f"Record was at {present_cid or 'null'}")
        return self._write(record)

    def get(self, did: str, query: Mapping[str, str]) -> dict[str, Any]:
        """Read a Bluesky record (getRecord); RecordNotFound if there is none with the requested cid."""
        collection, rkey = query["collection"], query["rkey"]
        if not regex.fullmatch(RECORD_KEY, rkey):
            raise invalid_request(f'Invalid com.atproto.repo.getRecord params: Invalid record key (got "{rkey}")')
        record = self.records.get((did, rkey)) if collection == POST_TYPE else None
        if record is None or query.get("cid", record.cid) != record.cid:
            raise XrpcError(400, "RecordNotFound", f"Could not locate record: at://{did}/{collection}/{rkey}")
        return {"uri": record.uri, "cid": record.cid, "value": record.value}

    def delete(self, did: str, body: dict[str, Any]) -> dict[str, Any]:
        """Delete a Bluesky record (deleteRecord); this also succeeds if there is none."""
        require_keys(body, ("collection", "rkey"), "$")
        _check_key(body["rkey"])
        if self.records.pop((did, body["rkey"]), None) is None:
            return {}
        return {"commit": self._commit()}

    def _checked(self, did: str, rkey: Any, body: dict[str, Any]) -> Record:
        if body["collection"] != POST_TYPE:
            raise invalid_request(f"The stand-in knows {POST_TYPE} only (got {json.dumps(body['collection'])})")
        _check_key(rkey)
        check_record(body["record"])
        if not regex.fullmatch(TID, rkey):
            raise invalid_request(f'Invalid record key for {POST_TYPE}: Invalid TID string (got "{rkey}") at $')
        return Record(did, rkey, cid(DAG_CBOR, json.dumps(body["record"], sort_keys=True).encode()), body["record"])

    def _write(self, record: Record) -> dict[str, Any]:
        self.blobs.refer(record.did, blobs_in(record.value))
        key = (record.did, record.rkey)
        self.writes += key not in self.records
        self.records[key] = record
        return {"uri": record.uri, "cid": record.cid, "commit": self._commit(), "validationStatus": "valid"}

    def _commit(self) -> dict[str, str]:
        rev = self._next_tid()
        return {"cid": cid(DAG_CBOR, rev.encode()), "rev": rev}

    def _next_tid(self) -> str:
        value = next(self._tids)
        return "".join(TID_ALPHABET[value >> shift & 31] for shift in range(60, -1, -5))


def _check_key(rkey: Any) -> None:
    if not isinstance(rkey, str) or not regex.fullmatch(RECORD_KEY, rkey):
        raise invalid_request(f"Invalid record key (got {json.dumps(rkey)}) at $.rkey")
