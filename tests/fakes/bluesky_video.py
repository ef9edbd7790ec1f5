"""A stand-in of Bluesky's video service (video.bsky.app).

Sources: the lexicons app.bsky.video.*, docs.bsky.app (tutorials/video) and the official client's words for its refusals.
It answers a job's status by itself where the lexicon has it under `jobStatus`, as the service does. What it stores at the
account's server are the bytes that it was sent; the real service encodes them again.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tests.fakes.bluesky_service_auth import ServiceTokens
from tests.fakes.faults import FaultyServer
from tests.fakes.http_server import Answer, ReceivedRequest
from tests.fakes.xrpc import XrpcError, bearer_token, content_type, invalid_request, server_error

GET_UPLOAD_LIMITS = "app.bsky.video.getUploadLimits"
UPLOAD_VIDEO = "app.bsky.video.uploadVideo"
GET_JOB_STATUS = "app.bsky.video.getJobStatus"
UPLOAD_BLOB = "com.atproto.repo.uploadBlob"
LARGEST = 300_000_000
DAILY_VIDEOS, DAILY_BYTES = 25, 10_000_000_000
CHECKS = 2  # at a job before it is done

Store = Callable[[str, bytes], dict[str, Any]]
"""Stores a video at the Bluesky account's server and returns the blob; raises XrpcError."""


@dataclass
class Job:
    """A video of an account at Bluesky's video service. `failure` is the failureCode of the job, if it fails."""

    id: str
    did: str
    data: bytes
    checks: int
    failure: str = ""
    blob: dict[str, Any] | None = None

    def status(self) -> dict[str, Any]:
        """The jobStatus of the video."""
        status: dict[str, Any] = {"jobId": self.id, "did": self.did}
        if self.blob:
            return {**status, "state": "JOB_STATE_COMPLETED", "blob": self.blob}
        if self.failure and not self.checks:
            return {**status, "state": "JOB_STATE_FAILED", "failureCode": self.failure, "message": "It did not work"}
        return {**status, "state": "JOB_STATE_ENCODING", "progress": 40}


@dataclass
class Allowance:
    """What a Bluesky account may still upload on this day; `refusal` is the reason if it may upload nothing."""

    videos: int = DAILY_VIDEOS
    bytes: int = DAILY_BYTES
    refusal: str = ""

    def shown(self) -> dict[str, Any]:
        """The response of getUploadLimits."""
        words = self.refusal or ("" if self.videos else "User has exceeded daily upload videos limit")
        status = {"canUpload": not words, "remainingDailyVideos": self.videos, "remainingDailyBytes": self.bytes}
        return {**status, **({"message": words} if words else {})}


class FakeVideoService(FaultyServer):
    """Bluesky's video service on loopback. The accounts' server issues `tokens`; `store` stores processed videos there."""

    platform = "bluesky"

    def __init__(self, tokens: ServiceTokens, store: Store, pds_did: str) -> None:
        super().__init__()
        self.tokens, self.store, self.pds_did = tokens, store, pds_did
        self.checks = CHECKS
        self.failures: list[str] = []  # failure codes of the next jobs
        self.allowances: defaultdict[str, Allowance] = defaultdict(Allowance)
        self.calls = frozenset({GET_UPLOAD_LIMITS, UPLOAD_VIDEO, GET_JOB_STATUS})
        self._jobs: dict[str, Job] = {}
        self._by_content: dict[tuple[str, str], Job] = {}
        self._serial = itertools.count(1)

    @property
    def jobs(self) -> int:
        """The number of videos that Bluesky's video service has processed."""
        with self._lock:
            return len(self._jobs)

    def delete_jobs(self) -> None:
        """Delete all jobs of Bluesky's video service, as happens after a while."""
        with self._lock:
            self._jobs.clear()
            self._by_content.clear()

    def call_of(self, request: ReceivedRequest) -> str:
        return request.path.removeprefix("/xrpc/")

    def server_error(self, status: int) -> Answer:
        return server_error(status)

    def perform(self, request: ReceivedRequest) -> Answer:
        endpoints = {
            ("GET", GET_UPLOAD_LIMITS): self._limits,
            ("POST", UPLOAD_VIDEO): self._take,
            ("GET", GET_JOB_STATUS): self._job_status,
        }
        endpoint = endpoints.get((request.method, self.call_of(request)))
        if endpoint is None:
            return Answer(404, b"404 page not found")
        try:
            return endpoint(request)
        except XrpcError as error:
            return error.answer()

    def _limits(self, request: ReceivedRequest) -> Answer:
        own_did = f"did:web:{urlsplit(self.url).netloc.replace(':', '%3A')}"
        did = self.tokens.holder(bearer_token(request), audience=own_did, method=GET_UPLOAD_LIMITS)
        return Answer.of_json(self.allowances[did].shown())

    def _take(self, request: ReceivedRequest) -> Answer:
        did = self.tokens.holder(bearer_token(request), audience=self.pds_did, method=UPLOAD_BLOB)
        if request.query.get("did") != did:
            raise XrpcError(403, "Forbidden", "The token is another account's")
        if not request.query.get("name"):
            raise invalid_request("name is required")
        if content_type(request) != "video/mp4":
            raise XrpcError(415, "UnsupportedMediaType", "unsupported content type")
        if (size := len(request.body)) > LARGEST:
            words = f"file size ({size} bytes) is larger than the maximum allowed size ({LARGEST} bytes)"
            raise XrpcError(400, "InvalidRequest", words)
        key = did, hashlib.sha256(request.body).hexdigest()
        if earlier := self._by_content.get(key):
            return Answer.of_json({**earlier.status(), "error": "already_exists", "message": "Already exists"}, 409)
        if refusal := self.allowances[did].shown().get("message"):
            raise XrpcError(403, "Forbidden", refusal)
        failure = self.failures.pop(0) if self.failures else ""
        job = Job(f"job-{next(self._serial)}", did, request.body, self.checks, failure)
        self._jobs[job.id] = job
        if not failure:  # a failed one may be sent again
            self._by_content[key] = job
        self.allowances[did].videos -= 1
        self.allowances[did].bytes -= size
        return Answer.of_json(job.status())

    def _job_status(self, request: ReceivedRequest) -> Answer:
        job = self._jobs.get(request.query.get("jobId", ""))
        if job is None:
            raise XrpcError(404, "NotFound", "job not found")
        job.checks = max(job.checks - 1, 0)
        if not job.checks and not job.failure and job.blob is None:
            job.blob = self.store(job.did, job.data)
        return Answer.of_json({"jobStatus": job.status()})
