"""The video of a Pinterest pin: registering it, uploading it to the URL in the response, awaiting its processing.

The URL accepts the file for a limited time and only with form fields that Pinterest names as well, so announcing and sending
are one step. A video that no pin uses is shown nowhere, so every step may be repeated. Source:
github.com/pinterest/api-description 5.23, media.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from django.utils.translation import gettext_noop

from accounts.platforms.errors import ContentRejected, Transient
from accounts.platforms.http.responses import UnreadableAnswer
from accounts.platforms.pinterest.client import ERRORS, Api, PinterestError, id_of
from accounts.platforms.processing import step_to_check_later_or_raise
from accounts.platforms.types import MediaFile, Progress
from config.outbound import OutboundError, build_multipart_body, request

UPLOAD_SECONDS, SLOWEST_BYTES_PER_SECOND = 60.0, 500_000  # shortest timeout, and bytes per second
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 5.0, 60.0  # between checks whether the video is processed
MAX_CHECKS = 60


def register_and_upload_video(api: Api, file: MediaFile, progress: Progress) -> Progress:
    """Register the video of a pin at Pinterest, and upload the file to the URL in the response.

    Like all steps here, it raises ContentRejected, TokenExpired, ReauthRequired, ConnectionUnavailable, Transient.
    """
    with ERRORS.translating_content_call_errors(gettext_noop("the video")):
        announced = api.post("/media", json={"media_type": "video"})
        media_id = id_of(announced, "media_id")
        url, fields = _destination(announced, api.address)
    _send(url, fields, file)
    return progress.with_next_step("process", {**progress.state, "media_id": media_id, "looks": 0})


def check_processing(api: Api, progress: Progress) -> Progress:
    """Ask whether Pinterest has processed the pin's video.

    The video is uploaded again if Pinterest no longer has it.
    """
    try:
        status = api.get(f"/media/{progress.state['media_id']}").get("status")
    except (OutboundError, PinterestError) as error:
        if isinstance(error, PinterestError) and error.status == 404 and (again := upload_again_step_or_none(progress)):
            return again
        raise ERRORS.translate_repeatable_call_error(error) from error
    if status == "succeeded":
        return progress.with_next_step("create", progress.state)
    if status == "failed":
        raise ContentRejected(gettext_noop("Pinterest could not process the video."))
    timeout = Transient(gettext_noop("Pinterest has not finished processing the video."))
    return step_to_check_later_or_raise(
        progress,
        "process",
        progress.state,
        first=FIRST_PAUSE_SECONDS,
        longest=LONGEST_PAUSE_SECONDS,
        max_checks=MAX_CHECKS,
        timeout=timeout,
    )


def upload_again_step_or_none(progress: Progress) -> Progress | None:
    """Return the step that uploads the pin's video to Pinterest again; None if a second upload was tried before."""
    if progress.state.get("again"):
        return None
    return progress.with_next_step("upload", {"board": progress.state["board"], "again": True})


def _destination(announced: Mapping[str, Any], api: str) -> tuple[str, dict[str, str]]:
    """Return the URL and form fields for the upload of a pin's video, from Pinterest's response. Raises UnreadableAnswer."""
    url, fields = announced.get("upload_url"), announced.get("upload_parameters")
    if not isinstance(url, str) or not isinstance(fields, dict):
        raise UnreadableAnswer("The response names no URL for the upload.")
    target, own = urlsplit(url), urlsplit(api)
    if target.scheme != "https" and (target.scheme, target.netloc) != (own.scheme, own.netloc):
        raise UnreadableAnswer("The URL for the upload is not HTTPS.")
    return url, {str(name): str(value) for name, value in fields.items()}


def _send(url: str, fields: Mapping[str, str], file: MediaFile) -> None:
    with file.open() as opened:
        body = build_multipart_body({**fields, "file": (file.filename or "video", opened, file.mime_type)})
        headers = {"Content-Type": body.content_type}
        seconds = UPLOAD_SECONDS + file.size_bytes / SLOWEST_BYTES_PER_SECOND
        try:
            response = request("POST", url, data=body, headers=headers, timeout=seconds)
        except OutboundError as error:
            raise Transient(gettext_noop("Pinterest's video storage could not be reached.")) from error
    if not 200 <= response.status < 300:
        raise Transient(f"Pinterest's video storage answered {response.status}.")
