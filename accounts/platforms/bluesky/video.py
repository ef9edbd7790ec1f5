"""Videos of Bluesky posts: Bluesky's video service processes each video and stores it at the account's server.

This is the way that docs.bsky.app (tutorials/video) recommends, because the video then plays as soon as the post is
published. A video that is uploaded to the account's server like a picture is only processed afterwards. The account's server
issues a token for one method of one audience (com.atproto.server.getServiceAuth). The video service identifies a video by
its bytes and answers a repeated upload with 409 `already_exists` and the existing job, so each step may be repeated.
Sources: the lexicons app.bsky.video.* and com.atproto.server.getServiceAuth, and the tutorial.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.utils import timezone
from django.utils.translation import gettext_noop

from accounts.platforms.bluesky.embeds import blob_in_response_or_none
from accounts.platforms.bluesky.xrpc import ERRORS, BlueskyErrorTranslator, Xrpc, XrpcError
from accounts.platforms.errors import ContentRejected, PlatformError, Transient, report_unknown_error_code
from accounts.platforms.http.responses import NO_REASON, line_without_tokens, one_line
from accounts.platforms.processing import step_to_check_later_or_raise
from accounts.platforms.types import MediaFile, Progress, State

TOKEN_SECONDS = 1800  # recommended by the tutorial; a server issues none for more than an hour
PAUSE_SECONDS = 5
MAX_CHECKS = 180  # a quarter of an hour; after that each attempt of the target checks once more
MAX_VIDEO_JOBS = 3  # for one video, if the service itself fails
PAUSE_AFTER_FAILED_JOB_SECONDS = 30  # before the next upload, also if the service no longer knows the job

FAILED_JOB_STATE = "JOB_STATE_FAILED"
# Error codes of a failed job: the video cannot be used, or the service has failed.
UNUSABLE_VIDEO_CODES = frozenset({"validation_failure", "encoding_failure", "pds_upload_unsupported_blob_size"})
SERVICE_FAILURE_CODES = frozenset({"pds_upload_failure", "generic_failure", ""})


class VideoErrorTranslator(BlueskyErrorTranslator):
    """The translation of errors of Bluesky's video service into PlatformErrors that concern the video."""

    unreachable = gettext_noop("Bluesky's video service could not be reached.")

    def translate_repeatable_call_error(self, error: Any) -> PlatformError:
        """Translate an error of Bluesky's video service: ContentRejected if it refuses the video, otherwise Transient."""
        if not isinstance(error, XrpcError):
            return super().translate_repeatable_call_error(error)
        if error.status in (400, 403, 413, 415):
            return ContentRejected(f"Bluesky's video service does not accept the video: {error.reason}")
        if error.status not in (401, 429) and error.status < 500:
            report_unknown_error_code(self.name, f"video {error.status} {error.code}")
        return self.transient_error(error)


VIDEO_ERRORS = VideoErrorTranslator()


@dataclass(frozen=True)
class VideoService:
    """The client of Bluesky's video service (the URL `address`) for the account `did`, whose own server is `server`."""

    address: str
    server: Xrpc
    did: str

    def upload_video_and_return_next_step(self, file: MediaFile, key: str, progress: Progress) -> Progress:
        """Upload a video to Bluesky's video service. Returns the next publishing step, usually to wait for processing.

        `key` identifies the post at every attempt. Raises ContentRejected, TokenExpired, ReauthRequired, Transient.
        """
        self._check_allowance(file)
        tries = progress.state.get("tries", 0) + 1
        job = self._upload(file, f"{key}-{tries}.mp4")
        job_id = job.get("jobId")
        if not isinstance(job_id, str) or not 0 < len(job_id) <= 256:
            raise Transient(gettext_noop("Bluesky's video service did not name the job of a video."))
        return _next_step(progress, {**progress.state, "job": job_id, "tries": tries, "looks": 0}, job)

    def check_processing(self, progress: Progress) -> Progress:
        """Ask Bluesky's video service whether it has processed the video. Raises ContentRejected, Transient."""
        with VIDEO_ERRORS.translating_repeatable_call_errors():
            try:
                answer = Xrpc(self.address).query("app.bsky.video.getJobStatus", {"jobId": progress.state["job"]})
            except XrpcError as error:
                if error.status in (400, 404):  # the service no longer has the job
                    return _send_again(progress, progress.state, error.reason)
                raise
        return _next_step(progress, progress.state, _job_in(answer))

    def _check_allowance(self, file: MediaFile) -> None:
        """Raise ContentRejected if Bluesky's video service accepts no further video of this size from the account today."""
        service = self._authorized(_did_of(self.address), "app.bsky.video.getUploadLimits")
        with VIDEO_ERRORS.translating_repeatable_call_errors():
            limits = service.query("app.bsky.video.getUploadLimits")
        remaining = limits.get("remainingDailyBytes")
        too_large = isinstance(remaining, int) and remaining < file.size_bytes
        if limits.get("canUpload") is False or too_large:
            reason = line_without_tokens(limits.get("message")) or gettext_noop("The account's daily allowance is used up.")
            raise ContentRejected(
                f"Bluesky accepts no video of this account now: {reason}",
                suggested_action=gettext_noop(
                    "Confirm the account's e-mail address at Bluesky, or wait a day. Then retry the post."
                ),
            )

    def _upload(self, file: MediaFile, name: str) -> Mapping[str, Any]:
        service = self._authorized(_did_of(self.server.address), "com.atproto.repo.uploadBlob")
        with file.open() as opened, VIDEO_ERRORS.translating_repeatable_call_errors():
            try:
                answer = service.upload(
                    "app.bsky.video.uploadVideo",
                    opened,
                    mime_type=file.mime_type,
                    size_bytes=file.size_bytes,
                    params={"did": self.did, "name": name},
                )
            except XrpcError as error:
                if error.code != "already_exists":
                    raise
                answer = error.content
        return _job_in(answer)

    def _authorized(self, audience: str, method: str) -> Xrpc:
        """Return a client of Bluesky's video service with a token for one method, issued by the account's server."""
        expires = int(timezone.now().timestamp()) + TOKEN_SECONDS
        params = {"aud": audience, "lxm": method, "exp": str(expires)}
        with ERRORS.translating_repeatable_call_errors():
            token = self.server.query("com.atproto.server.getServiceAuth", params).get("token")
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise Transient(gettext_noop("The account's Bluesky server issued no token for the video service."))
        return Xrpc(self.address, token)


def _next_step(progress: Progress, state: State, job: Mapping[str, Any]) -> Progress:
    """Return the publishing step that follows a response of Bluesky's video service: go on, wait, or upload again."""
    if blob := blob_in_response_or_none(job):
        return progress.with_next_step("freeze", {**_without(state, "job", "tries", "looks"), "blobs": [blob]})
    if job.get("state") == FAILED_JOB_STATE:
        return _after_failure(progress, state, job)
    timeout = Transient(gettext_noop("Bluesky has not finished processing the video."))
    return step_to_check_later_or_raise(
        progress, "process", state, first=PAUSE_SECONDS, longest=PAUSE_SECONDS, max_checks=MAX_CHECKS, timeout=timeout
    )


def _after_failure(progress: Progress, state: State, job: Mapping[str, Any]) -> Progress:
    code = one_line(job.get("failureCode"))
    reason = line_without_tokens(job.get("message")) or line_without_tokens(job.get("error")) or code or NO_REASON
    if code in SERVICE_FAILURE_CODES:
        return _send_again(progress, state, reason)
    if code not in UNUSABLE_VIDEO_CODES:
        report_unknown_error_code("bluesky", f"video job {code}")
    raise ContentRejected(f"Bluesky could not process the video: {reason}")


def _send_again(progress: Progress, state: State, reason: str) -> Progress:
    """Plan another upload of a video that Bluesky failed to process. Raises ContentRejected after MAX_VIDEO_JOBS uploads."""
    if state["tries"] >= MAX_VIDEO_JOBS:
        raise ContentRejected(
            f"Bluesky could not process the video: {reason}", suggested_action=gettext_noop("Retry the post later.")
        )
    ready_at = timezone.now() + timedelta(seconds=PAUSE_AFTER_FAILED_JOB_SECONDS)
    return progress.with_next_step("upload", _without(state, "job", "looks"), ready_at=ready_at)


def _without(state: State, *names: str) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name not in names}


def _job_in(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the status of a video's processing job from a response of Bluesky's video service.

    The lexicon names the field `jobStatus`, but the service answers with the status itself.
    """
    nested = answer.get("jobStatus")
    return nested if isinstance(nested, dict) else answer


def _did_of(address: str) -> str:
    """Return the did:web (a DID made from a host name) of the Bluesky server or video service at a URL."""
    return f"did:web:{urlsplit(address).netloc.replace(':', '%3A')}"
