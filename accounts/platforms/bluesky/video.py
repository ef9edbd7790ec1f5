"""Videos: sent to Bluesky's video service, which processes them and stores them at the account's server as a blob.

This is the way that docs.bsky.app (tutorials/video) recommends: the post appears with a video that plays. A video that
goes to the account's server as pictures do is processed only after the post is out, which shows no video until then.
The account's server issues a token for one method of one audience (com.atproto.server.getServiceAuth). The video service
knows a video by its bytes: sent again, it answers 409 `already_exists` with the job that it has. So each step may be
repeated. Sources: the lexicons app.bsky.video.* and com.atproto.server.getServiceAuth, and the tutorial.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.utils import timezone

from accounts.platforms.bluesky.blobs import blob_in
from accounts.platforms.bluesky.xrpc import XrpcError, line, passing_error, platform_errors, query, reason_of, upload
from accounts.platforms.errors import ContentRejected, PlatformError, Transient, unmapped
from accounts.platforms.types import MediaFile, Progress
from config.outbound import OutboundError

TOKEN_SECONDS = 1800  # what the tutorial recommends; a server issues none for more than an hour
LOOK_SECONDS = 5
MAX_LOOKS = 180  # a quarter of an hour; after that each attempt of the target looks once more
MAX_TRIES = 3  # jobs for one video, when the service itself fails
TRY_AGAIN_SECONDS = 30

FAILED = "JOB_STATE_FAILED"
# Codes of a failed job: the video cannot be used, or the service failed at it.
REFUSED = frozenset({"validation_failure", "encoding_failure", "pds_upload_unsupported_blob_size"})
BROKEN = frozenset({"pds_upload_failure", "generic_failure", ""})

State = Mapping[str, Any]


@dataclass(frozen=True)
class VideoService:
    """The video service at `address`, for one account: its server `pds`, its access token and its `did`."""

    address: str
    pds: str
    access: str
    did: str

    def send(self, file: MediaFile, key: str, state: State) -> Progress:
        """Send the video; what follows is `process`, or `freeze` for one that was processed before.

        `key` names the post, the same at every attempt. Raises ContentRejected, TokenExpired, AccountDisconnected, Transient.
        """
        self._check_allowance(file)
        tries = state.get("tries", 0) + 1
        job = self._upload(file, f"{key}-{tries}.mp4")
        job_id = job.get("jobId")
        if not isinstance(job_id, str) or not 0 < len(job_id) <= 256:
            raise Transient("Bluesky's video service did not say what it made of the video.")
        return _following({**state, "job": job_id, "tries": tries, "looks": 0}, job)

    def process(self, state: State) -> Progress:
        """Look how far the service is with the video. Raises ContentRejected, Transient."""
        try:
            answer = query(self.address, "app.bsky.video.getJobStatus", params={"jobId": state["job"]})
        except OutboundError as error:
            raise _unreachable() from error
        except XrpcError as error:
            if error.status in (400, 404):  # it has forgotten the job
                return _send_again(state, reason_of(error))
            raise _fault(error) from error
        return _following(state, _job_in(answer))

    def _check_allowance(self, file: MediaFile) -> None:
        """Raise ContentRejected when the service says ahead that it takes no video of this account now."""
        token = self._token(_did_of(self.address), "app.bsky.video.getUploadLimits")
        try:
            told = query(self.address, "app.bsky.video.getUploadLimits", token=token)
        except OutboundError as error:
            raise _unreachable() from error
        except XrpcError as error:
            raise _fault(error) from error
        room = told.get("remainingDailyBytes")
        too_large = isinstance(room, int) and room < file.size_bytes
        if told.get("canUpload") is False or too_large:
            reason = line(told.get("message")) or "The account's daily allowance is used up."
            raise ContentRejected(
                f"Bluesky takes no video of this account now: {reason}",
                suggested_action="Confirm the account's e-mail address at Bluesky, or wait a day. Then retry the post.",
            )

    def _upload(self, file: MediaFile, name: str) -> Mapping[str, Any]:
        token = self._token(_did_of(self.pds), "com.atproto.repo.uploadBlob")
        try:
            with file.open() as opened:
                answer = upload(
                    self.address,
                    "app.bsky.video.uploadVideo",
                    opened,
                    mime_type=file.mime_type,
                    size_bytes=file.size_bytes,
                    token=token,
                    params={"did": self.did, "name": name},
                )
        except OutboundError as error:
            raise _unreachable() from error
        except XrpcError as error:
            if error.name == "already_exists":
                return _job_in(error.content)
            raise _fault(error) from error
        return _job_in(answer)

    def _token(self, audience: str, method: str) -> str:
        expires = int(timezone.now().timestamp()) + TOKEN_SECONDS
        params = {"aud": audience, "lxm": method, "exp": str(expires)}
        with platform_errors():
            token = query(self.pds, "com.atproto.server.getServiceAuth", params=params, token=self.access).get("token")
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise Transient("The account's Bluesky server issued no token for the video service.")
        return token


def _following(state: State, job: Mapping[str, Any]) -> Progress:
    """The step that follows from what the service says of the job."""
    if blob := blob_in(job):
        kept = {name: value for name, value in state.items() if name not in ("job", "tries", "looks")}
        return Progress("freeze", {**kept, "blobs": [blob]})
    if job.get("state") == FAILED:
        return _after_failure(state, job)
    if state["looks"] >= MAX_LOOKS:
        raise Transient("Bluesky has not finished processing the video.")
    ready_at = timezone.now() + timedelta(seconds=LOOK_SECONDS)
    return Progress("process", {**state, "looks": state["looks"] + 1}, ready_at=ready_at)


def _after_failure(state: State, job: Mapping[str, Any]) -> Progress:
    code = line(job.get("failureCode"))
    reason = line(job.get("message")) or line(job.get("error")) or code or "no reason given"
    if code in BROKEN:
        return _send_again(state, reason)
    if code not in REFUSED:
        unmapped("bluesky", f"video job {code}")
    raise ContentRejected(f"Bluesky could not process the video: {reason}")


def _send_again(state: State, reason: str) -> Progress:
    """Another job for the same video, some time later."""
    if state["tries"] >= MAX_TRIES:
        raise ContentRejected(
            f"Bluesky could not process the video: {reason}", suggested_action="Retry the post later."
        )
    kept = {name: value for name, value in state.items() if name not in ("job", "looks")}
    return Progress("upload", kept, ready_at=timezone.now() + timedelta(seconds=TRY_AGAIN_SECONDS))


def _job_in(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """The job's status: by itself, as the service answers, or under `jobStatus`, as the lexicon says."""
    nested = answer.get("jobStatus")
    return nested if isinstance(nested, dict) else answer


def _did_of(address: str) -> str:
    """The did:web of the server at this address; a port is written with its colon encoded."""
    return f"did:web:{urlsplit(address).netloc.replace(':', '%3A')}"


def _unreachable() -> Transient:
    return Transient("Bluesky's video service could not be reached.")


def _fault(error: XrpcError) -> PlatformError:
    """What an error of the video service means. It says nothing of the account's session, and its limits hold for videos
    only."""
    if error.status in (400, 403, 413, 415):
        return ContentRejected(f"Bluesky's video service does not take the video: {reason_of(error)}")
    if error.status not in (401, 429) and error.status < 500:
        unmapped("bluesky", f"video {error.status} {error.name}")
    return passing_error(error)
