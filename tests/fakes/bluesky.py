"""A stand-in of a Bluesky PDS (AT Protocol, XRPC over HTTP), without an AppView; beside it runs the video service
(`video`), a server of its own.

Sources: bluesky-social/atproto lexicons and docs; statuses and error bodies measured against a reference PDS
(@atproto/dev-env 0.6.7). `bluesky_records` says where it is stricter than that server on purpose.

    with FakeBluesky() as pds:
        did = pds.add_account("alice.test", "abcd-efgh-ijkl-mnop")
        pds.drop_next("com.atproto.repo.createRecord")
        ...
        assert pds.writes == 1

Methods are named by their full NSID, such as com.atproto.repo.createRecord.
"""

from __future__ import annotations

import time
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from tests.fakes.bluesky_blobs import Blob
from tests.fakes.bluesky_methods import BlueskyMethods
from tests.fakes.bluesky_video import FakeVideoService
from tests.fakes.faults import FaultyServer
from tests.fakes.http_server import Answer, RawAnswer, ReceivedRequest
from tests.fakes.xrpc import server_error

GET_PROFILE = "app.bsky.actor.getProfile"  # unknown to a PDS without an AppView, yet a client may ask
RATE_LIMIT = 3000  # requests in RATE_WINDOW seconds, for each address
RATE_WINDOW = 300


class FakeBluesky(FaultyServer):
    """A Bluesky server on loopback; tests add accounts, expire tokens, set faults and count the records that were written."""

    platform = "bluesky"

    def __init__(self) -> None:
        super().__init__()
        self._methods = BlueskyMethods(service_endpoint=self.url)
        self.calls = frozenset({*self._methods.endpoints, GET_PROFILE})
        self.video = FakeVideoService(self._methods.service_tokens, self._store_video, self._methods.did)
        self._profiles: dict[str, dict[str, str]] = {}
        self._pictures: dict[str, bytes] = {}  # by path
        self._limited = 0
        self._retry_after = 0

    def __enter__(self) -> Self:
        self.video.__enter__()
        return super().__enter__()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        super().__exit__(kind, error, at)
        self.video.__exit__(kind, error, at)

    # what a test arranges

    def add_account(self, handle: str, app_password: str, main_password: str | None = None) -> str:
        """Add a Bluesky account; return its DID."""
        with self._lock:
            return self._methods.sessions.add_account(handle, app_password, main_password).did

    def show_profile(self, did: str, display_name: str) -> None:
        """Give a Bluesky account a profile, by which others find it; without profiles the server has no AppView."""
        with self._lock:
            self._methods.sessions.accounts[did].display_name = display_name

    def set_profile(self, handle: str, name: str, picture: bytes | None = None) -> None:
        """Give a Bluesky account a profile, as a server with an AppView answers it; a new picture has a new address."""
        with self._lock:
            did = next(each.did for each in self._methods.sessions.accounts.values() if each.handle == handle)
            self._profiles[did] = {"did": did, "displayName": name}
            if picture is not None:
                path = f"/avatars/{len(self._pictures)}@jpeg"
                self._pictures[path] = picture
                self.calls |= {path}
                self._profiles[did]["avatar"] = f"{self.url}{path}"

    def announce_endpoint(self, address: str | None) -> None:
        """Set the server address that the DID documents of sessions name; None leaves the document out."""
        with self._lock:
            self._methods.service_endpoint = address

    def take_down(self, did: str) -> None:
        """Take the Bluesky account down, as moderators do."""
        with self._lock:
            self._methods.sessions.accounts[did].taken_down = True

    def expire_access_tokens(self) -> None:
        """Expire all access tokens of the Bluesky server: they are refused with 400 ExpiredToken."""
        with self._lock:
            self._methods.sessions.expire("access")

    def expire_refresh_tokens(self) -> None:
        """Expire all refresh tokens of the Bluesky server: they are refused with 400 ExpiredToken."""
        with self._lock:
            self._methods.sessions.expire("refresh")

    def end_refresh_grace(self) -> None:
        """Revoke the refresh tokens of Bluesky sessions that were used before, as happens two hours after their first use."""
        with self._lock:
            self._methods.sessions.end_grace()

    def collect_blobs(self, *, rows: bool = True) -> None:
        """Delete the blobs that no Bluesky record refers to: rows and bytes, or with `rows=False` the bytes only."""
        with self._lock:
            self._methods.repos.blobs.collect(rows=rows)

    def rate_limit_next(self, count: int, retry_after: int = 30) -> None:
        """Answer the next `count` requests to the Bluesky server with 429 and `retry_after` seconds."""
        with self._lock:
            self._limited, self._retry_after = count, retry_after

    # what a test reads

    def records(self, did: str) -> list[dict[str, Any]]:
        """The records of a Bluesky account in order of creation, each with uri, cid, rkey and value."""
        with self._lock:
            mine = [record for record in self._methods.repos.records.values() if record.did == did]
        return [{"uri": one.uri, "cid": one.cid, "rkey": one.rkey, "value": one.value} for one in mine]

    def blobs(self, did: str) -> list[Blob]:
        """The blobs of a Bluesky account in order of their first upload, with their bytes."""
        with self._lock:
            return [replace(blob) for blob in self._methods.repos.blobs.of(did)]

    @property
    def writes(self) -> int:
        """The number of Bluesky records that were created, without overwritten, repeated and refused ones."""
        with self._lock:
            return self._methods.repos.writes

    @property
    def sessions_created(self) -> int:
        """The number of successful sign-ins at the Bluesky server."""
        with self._lock:
            return self._methods.sessions.created

    @property
    def refreshes(self) -> int:
        """The number of successful renewals of Bluesky sessions, repeated ones included."""
        with self._lock:
            return self._methods.sessions.refreshes

    # the service

    def call_of(self, request: ReceivedRequest) -> str:
        """The XRPC method of a request, such as com.atproto.repo.putRecord."""
        return request.path.removeprefix("/xrpc/")

    def server_error(self, status: int) -> Answer:
        return server_error(status)

    def answer(self, request: ReceivedRequest) -> Answer | RawAnswer:
        """Answer a request to the Bluesky server; the rate limit is checked first."""
        with self._lock:
            if self._limited:
                self._limited -= 1
                return self._rate_limited()
        return super().answer(request)

    def perform(self, request: ReceivedRequest) -> Answer:
        if request.path in self._pictures:
            return Answer(200, self._pictures[request.path], {"Content-Type": "image/jpeg"})
        if self.call_of(request) == GET_PROFILE and request.query.get("actor") in self._profiles:
            return Answer.of_json(self._profiles[request.query["actor"]])
        return self._methods.perform(request)

    def _store_video(self, did: str, data: bytes) -> dict[str, Any]:
        """Store a processed video for the video service, which has no limit of size."""
        with self._lock:
            blob: dict[str, Any] = self._methods.repos.blobs.store(did, data, "video/mp4")["blob"]
            return blob

    def _rate_limited(self) -> Answer:
        headers = {
            "RateLimit-Limit": str(RATE_LIMIT),
            "RateLimit-Remaining": "0",
            "RateLimit-Reset": str(int(time.time()) + self._retry_after),
            "RateLimit-Policy": f"{RATE_LIMIT};w={RATE_WINDOW}",
            "Retry-After": str(self._retry_after),
        }
        return Answer.of_json({"error": "RateLimitExceeded", "message": "Rate Limit Exceeded"}, 429, headers)
