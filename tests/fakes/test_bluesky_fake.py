"""The Bluesky stand-in behaves as a reference PDS (@atproto/dev-env 0.6.7)."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from tests.fakes.bluesky import FakeBluesky

POST = "app.bsky.feed.post"
CREATE, PUT, GET = ("com.atproto.repo." + name for name in ("createRecord", "putRecord", "getRecord"))
LOGIN, REFRESH, SESSION = ("com.atproto.server." + name for name in ("createSession", "refreshSession", "getSession"))
RKEY = "3l25zusnsfck2"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(16)


def error(status: int, name: str, message: str) -> tuple[int, dict[str, str]]:
    return status, {"error": name, "message": message}


BAD_TOKEN = error(400, "InvalidToken", "Token could not be verified")
BAD_LOGIN = error(401, "AuthenticationRequired", "Invalid identifier or password")
EXPIRED = error(400, "ExpiredToken", "Token has expired")
REVOKED = error(400, "ExpiredToken", "Token has been revoked")
NOT_YOURS = error(401, "AuthenticationRequired", "Authentication Required")
TAKEN_DOWN = error(401, "AccountTakedown", "Account has been taken down")


class Client:
    """A signed-in user of the stand-in."""

    def __init__(self, pds: FakeBluesky, handle: str) -> None:
        self.xrpc = f"{pds.url}/xrpc/"
        self.did = pds.add_account(handle, "app-pass")
        self.http = requests.Session()
        self.http.trust_env = False
        _, self.tokens = self.post(LOGIN, {"identifier": handle, "password": "app-pass"}, bearer=None)

    def post(self, method: str, body: object = None, bearer: str | None = "access") -> tuple[int, Any]:
        answer = self.http.post(self.xrpc + method, json=body, headers=self._headers(bearer), timeout=5)
        return answer.status_code, answer.json() if answer.content else None

    def get(self, method: str, bearer: str | None = None, **params: str) -> tuple[int, Any]:
        answer = self.http.get(self.xrpc + method, params=params, headers=self._headers(bearer), timeout=5)
        return answer.status_code, answer.json()

    def upload(self, data: bytes, mime: str) -> tuple[int, Any]:
        headers = {"Content-Type": mime, **self._headers("access")}
        answer = self.http.post(self.xrpc + "com.atproto.repo.uploadBlob", data=data, headers=headers, timeout=5)
        return answer.status_code, answer.json()

    def write(self, method: str = CREATE, /, **changes: Any) -> tuple[int, Any]:
        """Create or put the record at RKEY; `changes` go to the request's body, record fields in `record`."""
        return self.post(method, {"repo": self.did, "collection": POST, "rkey": RKEY, "record": record(), **changes})

    def _headers(self, bearer: str | None) -> dict[str, str]:
        """`bearer` is "access" or "refresh" for the client's own token, any other text for itself, None for none."""
        return {} if bearer is None else {"Authorization": f"Bearer {self.tokens.get(bearer + 'Jwt', bearer)}"}


def record(**changes: Any) -> dict[str, Any]:
    return {"$type": POST, "text": "hello", "createdAt": "2026-11-20T12:00:00.000Z", **changes}


@pytest.fixture
def pds() -> Iterator[FakeBluesky]:
    with FakeBluesky() as server:
        yield server


@pytest.fixture
def alice(pds: FakeBluesky) -> Client:
    return Client(pds, "alice.test")


def test_session_names_the_account_and_its_pds(pds: FakeBluesky, alice: Client) -> None:
    status, session = alice.get(SESSION, bearer="access")

    assert (status, session["did"], session["handle"], session["active"]) == (200, alice.did, "alice.test", True)
    assert session["didDoc"]["service"][0]["serviceEndpoint"] == pds.url
    assert pds.sessions_created == 1


def test_wrong_password_is_401(pds: FakeBluesky, alice: Client) -> None:
    assert alice.post(LOGIN, {"identifier": "alice.test", "password": "no"}, bearer=None) == BAD_LOGIN
    assert pds.sessions_created == 1


def test_missing_bad_and_refresh_tokens_are_refused(alice: Client) -> None:
    assert alice.get(SESSION) == error(401, "AuthMissing", "Authentication Required")
    assert alice.get(SESSION, bearer="x") == BAD_TOKEN
    assert alice.get(SESSION, bearer="refresh") == BAD_TOKEN
    assert alice.post(REFRESH, bearer="access") == BAD_TOKEN


def test_expired_access_token_is_400_until_it_is_renewed(pds: FakeBluesky, alice: Client) -> None:
    pds.expire_access_tokens()

    assert alice.write() == EXPIRED
    _, alice.tokens = alice.post(REFRESH, bearer="refresh")
    assert alice.write()[0] == 200
    assert (pds.refreshes, pds.writes) == (1, 1)


def test_used_refresh_token_gives_the_same_successor_until_the_grace_ends(pds: FakeBluesky, alice: Client) -> None:
    (_, first), (_, again) = alice.post(REFRESH, bearer="refresh"), alice.post(REFRESH, bearer="refresh")
    pds.end_refresh_grace()

    assert alice.post(REFRESH, bearer="refresh") == REVOKED
    assert alice.post(REFRESH, bearer=first["refreshJwt"])[0] == 200
    pds.end_refresh_grace()
    assert alice.post(REFRESH, bearer=again["refreshJwt"]) == REVOKED
    assert alice.get(SESSION, bearer=again["accessJwt"])[0] == 200
    assert pds.refreshes == 3


def test_expired_refresh_token_is_400_but_may_still_end_the_session(pds: FakeBluesky, alice: Client) -> None:
    pds.expire_refresh_tokens()

    assert alice.post(REFRESH, bearer="refresh") == EXPIRED
    assert alice.post("com.atproto.server.deleteSession", bearer="refresh") == (200, None)


def test_taken_down_account_can_neither_write_nor_refresh_nor_log_in(pds: FakeBluesky, alice: Client) -> None:
    pds.take_down(alice.did)

    assert alice.write() == TAKEN_DOWN
    assert alice.post(REFRESH, bearer="refresh") == TAKEN_DOWN
    assert alice.post(LOGIN, {"identifier": "alice.test", "password": "app-pass"}, bearer=None) == BAD_LOGIN
    assert pds.writes == 0


def test_created_record_can_be_read_by_anyone(pds: FakeBluesky, alice: Client) -> None:
    status, created = alice.write()

    uri = f"at://{alice.did}/{POST}/{RKEY}"
    assert (status, created["uri"], created["validationStatus"]) == (200, uri, "valid")
    stored = {"uri": uri, "cid": created["cid"], "value": record()}
    assert alice.get(GET, repo="alice.test", collection=POST, rkey=RKEY) == (200, stored)
    assert pds.records(alice.did) == [{**stored, "rkey": RKEY}]


def test_absent_record_is_400_record_not_found(alice: Client) -> None:
    message = f"Could not locate record: at://{alice.did}/{POST}/{RKEY}"

    assert alice.get(GET, repo=alice.did, collection=POST, rkey=RKEY) == error(400, "RecordNotFound", message)


def test_creating_at_an_existing_key_is_500(pds: FakeBluesky, alice: Client) -> None:
    alice.write()

    assert alice.write() == error(500, "InternalServerError", "Internal Server Error")
    assert pds.writes == 1


def test_put_with_null_swap_creates_once_and_changes_no_existing_record(pds: FakeBluesky, alice: Client) -> None:
    _, created = alice.write(PUT, swapRecord=None)

    repeated = {"uri": created["uri"], "cid": created["cid"], "validationStatus": "valid"}
    assert alice.write(PUT, swapRecord=None) == (200, repeated)
    refused = error(400, "InvalidSwap", f"Record was at {created['cid']}")
    assert alice.write(PUT, swapRecord=None, record=record(text="other")) == refused
    assert pds.writes == 1


def test_put_without_swap_overwrites(pds: FakeBluesky, alice: Client) -> None:
    alice.write(PUT)

    assert alice.write(PUT, record=record(text="other"))[0] == 200
    assert [one["value"]["text"] for one in pds.records(alice.did)] == ["other"]
    assert pds.writes == 1


def test_deleting_succeeds_twice(pds: FakeBluesky, alice: Client) -> None:
    alice.write()

    assert alice.write("com.atproto.repo.deleteRecord")[0] == 200
    assert alice.write("com.atproto.repo.deleteRecord") == (200, {})
    assert pds.records(alice.did) == []


def test_invalid_record_is_not_written(pds: FakeBluesky, alice: Client) -> None:
    message = f"Invalid {POST} record: grapheme too big (maximum 300, got 301) at $.record.text"

    assert alice.write(record=record(text="a" * 301)) == error(400, "InvalidRequest", message)
    assert pds.writes == 0


def test_only_the_owner_writes(pds: FakeBluesky, alice: Client) -> None:
    bob = Client(pds, "bob.test")

    assert alice.write(repo=bob.did) == NOT_YOURS
    assert alice.write(repo="did:plc:nobody") == error(403, "AccountNotFound", "Account not found")
    assert pds.writes == 0


@pytest.mark.parametrize("rkey", ["abc", "self", "0000000000000", "k222222222222", "3L25ZUSNSFCK2", "3l25zusnsfck22"])
def test_record_key_must_be_a_tid(pds: FakeBluesky, alice: Client, rkey: str) -> None:
    message = f'Invalid record key for {POST}: Invalid TID string (got "{rkey}") at $'

    assert alice.write(rkey=rkey) == error(400, "InvalidRequest", message)
    assert pds.writes == 0


def test_blob_is_sniffed_and_must_be_referenced_as_it_was_returned(alice: Client) -> None:
    _, uploaded = alice.upload(PNG, "application/octet-stream")
    blob = uploaded["blob"]

    def embedding(image: dict[str, Any]) -> dict[str, Any]:
        return record(embed={"$type": "app.bsky.embed.images", "images": [{"image": image, "alt": ""}]})

    assert (blob["mimeType"], blob["size"]) == ("image/png", len(PNG))
    assert alice.write(record=embedding({**blob, "size": 1}))[1]["error"] == "InvalidSize"
    assert alice.write(record=embedding({**blob, "mimeType": "image/jpeg"}))[1]["error"] == "InvalidMimeType"
    assert alice.write(record=embedding({**blob, "ref": {"$link": "baf" + "a" * 56}}))[1]["error"] == "BlobNotFound"
    assert alice.write(record=embedding(blob))[0] == 200


def test_too_large_blob_is_413(alice: Client) -> None:
    assert alice.upload(bytes(5_242_881), "image/png") == error(413, "PayloadTooLarge", "request entity too large")


def test_handles_resolve_or_are_400(alice: Client) -> None:
    method = "com.atproto.identity.resolveHandle"

    assert alice.get(method, handle="ALICE.test") == (200, {"did": alice.did})
    assert alice.get(method, handle="no.test") == error(400, "HandleNotFound", "Unable to resolve handle")


def test_profiles_need_an_app_view(alice: Client) -> None:
    method = "app.bsky.actor.getProfile"

    assert alice.get(method, actor=alice.did) == error(400, "InvalidRequest", f"No service configured for {method}")


def test_rate_limit_names_the_waiting_time(pds: FakeBluesky, alice: Client) -> None:
    pds.rate_limit_next(1, retry_after=90)

    before = int(time.time())
    answer = alice.http.get(alice.xrpc + SESSION, timeout=5)
    assert (answer.status_code, answer.json()["error"]) == (429, "RateLimitExceeded")
    assert (answer.headers["Retry-After"], answer.headers["RateLimit-Remaining"]) == ("90", "0")
    assert answer.headers["RateLimit-Policy"] == "3000;w=300"
    assert before + 90 <= int(answer.headers["RateLimit-Reset"]) <= int(time.time()) + 90
    assert alice.get(SESSION, bearer="access")[0] == 200


def test_a_record_may_be_written_despite_an_error_response(pds: FakeBluesky, alice: Client) -> None:
    pds.fail_next(CREATE, status=502)
    pds.fail_next(CREATE, status=503, after_accept=True)

    assert alice.write() == error(502, "UpstreamFailure", "UpstreamFailure")
    assert pds.writes == 0
    assert alice.write()[0] == 503
    assert pds.writes == 1


@pytest.mark.parametrize("after_accept", [True, False])
def test_a_dropped_connection_may_hide_a_write(pds: FakeBluesky, alice: Client, after_accept: bool) -> None:
    pds.drop_next(CREATE, after_accept=after_accept)

    with pytest.raises(requests.ConnectionError):
        alice.write()
    assert pds.writes == int(after_accept)
    assert pds.requests_to(CREATE) == 1


def test_a_held_response_is_sent_when_released(pds: FakeBluesky, alice: Client) -> None:
    release = pds.hold_next(CREATE)

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(alice.write)
        pds.wait_for(2)
        assert not writing.done()
        release.set()
        assert writing.result(timeout=5)[0] == 200


def test_one_of_many_simultaneous_puts_creates(pds: FakeBluesky, alice: Client) -> None:
    together = threading.Barrier(8)

    def put() -> int:
        together.wait(5)
        return alice.write(PUT, swapRecord=None)[0]

    with ThreadPoolExecutor(8) as pool:
        statuses = [future.result(5) for future in [pool.submit(put) for _ in range(8)]]
    assert statuses == [200] * 8
    assert pds.writes == 1


def test_misspelt_methods_are_refused(pds: FakeBluesky) -> None:
    with pytest.raises(ValueError, match="createRecord"):
        pds.requests_to("createRecord")
