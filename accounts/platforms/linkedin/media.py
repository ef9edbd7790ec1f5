"""Media of LinkedIn posts: registering files, uploading them to the URLs that LinkedIn gives, awaiting their processing.

An image or a document is uploaded at once. A video is uploaded in the parts that LinkedIn names, all in one step, because
their addresses work for anybody and so are not stored. Uploads that no post uses are invisible, so every step may be
repeated. Most applications may not read what a member has uploaded; the publisher then waits for a while instead.
Source: learn.microsoft.com/linkedin, Images, Videos and Documents APIs.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, BinaryIO

from django.utils.translation import gettext_noop

from accounts.platforms.errors import ContentRejected, Transient, report_unknown_error_code
from accounts.platforms.http.responses import UnreadableAnswer, line_without_tokens, objects_in, one_line
from accounts.platforms.linkedin.client import ERRORS, Api, LinkedInError, quoted_urn
from accounts.platforms.processing import step_to_check_later, step_to_check_later_or_raise
from accounts.platforms.types import MediaFile, MediaKind, Progress, State
from config.outbound import OutboundError

COLLECTIONS: dict[MediaKind, str] = {"image": "images", "gif": "images", "video": "videos", "document": "documents"}
PART_TRIES = 3
VIDEO_SECONDS = 1800.0  # timeout of all parts together
UNREADABLE_STATUS_WAIT_SECONDS: dict[MediaKind, int] = {"image": 5, "gif": 5, "video": 60, "document": 30}
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 2, 30
MAX_CHECKS = 60  # half an hour
MAX_CHECKS_IF_NOT_FOUND = 4  # LinkedIn may not find a recent upload everywhere yet

Files = tuple[MediaFile, ...]


def next_upload_or_create_step(files: Files, progress: Progress, state: State) -> Progress:
    """Return the step for a LinkedIn post's media: upload the next file or, if all are uploaded, create the post."""
    return progress.with_next_step("upload" if len(state["media"]) < len(files) else "create", state)


def restart_uploads_step_at_most_once(files: Files, progress: Progress) -> Progress | None:
    """Return the step that uploads the media files of a LinkedIn post a second time; None if this was done before."""
    if progress.state.get("again"):
        return None
    return next_upload_or_create_step(files, progress, {**_without_pending(progress.state), "media": [], "again": True})


def upload_next_file(api: Api, owner: str, files: Files, progress: Progress) -> Progress:
    """Upload the next media file of a LinkedIn post.

    Raises ContentRejected, TokenExpired, ReauthRequired, ConnectionUnavailable, Transient.
    """
    file = files[len(progress.state["media"])]
    send = _send_video if file.kind == "video" else _send_whole
    with ERRORS.translating_content_call_errors(_label(file)), file.open() as opened:
        urn = send(api, owner, file, opened)
    return progress.with_next_step("process", {**progress.state, "pending": urn, "looks": 0})


def check_processing(api: Api, files: Files, progress: Progress) -> Progress:
    """Ask whether LinkedIn has processed the uploaded media file. Raises PlatformError.

    The errors are the same as those of `upload`.
    """
    state, file = progress.state, files[len(progress.state["media"])]
    ready = next_upload_or_create_step(
        files, progress, {**_without_pending(state), "media": [*state["media"], state["pending"]]}
    )
    with ERRORS.translating_content_call_errors(_label(file)):
        try:
            details = api.get(f"/rest/{COLLECTIONS[file.kind]}/{quoted_urn(state['pending'])}")
        except LinkedInError as error:
            if error.status == 403:
                seconds = UNREADABLE_STATUS_WAIT_SECONDS[file.kind]
                later = step_to_check_later(progress, "process", state, first=seconds, longest=seconds)
                return ready if state["looks"] else later
            if error.status != 404:
                raise
            if state["looks"] < MAX_CHECKS_IF_NOT_FOUND:
                return step_to_check_later(
                    progress, "process", state, first=FIRST_PAUSE_SECONDS, longest=LONGEST_PAUSE_SECONDS
                )
            if (again := restart_uploads_step_at_most_once(files, progress)) is None:
                raise
            return again
    status = line_without_tokens(details.get("status"))
    if status == "AVAILABLE":
        return ready
    if status == "PROCESSING_FAILED":
        reason = line_without_tokens(details.get("processingFailureReason")) or gettext_noop("no reason given")
        raise ContentRejected(f"LinkedIn could not process {_label(file)}: {reason}")
    if status not in ("PROCESSING", "WAITING_UPLOAD"):
        report_unknown_error_code("linkedin", f"media status {status}")
    return step_to_check_later_or_raise(
        progress,
        "process",
        state,
        first=FIRST_PAUSE_SECONDS,
        longest=LONGEST_PAUSE_SECONDS,
        max_checks=MAX_CHECKS,
        timeout=Transient(gettext_noop("LinkedIn has not finished processing the media.")),
    )


def _send_whole(api: Api, owner: str, file: MediaFile, opened: BinaryIO) -> str:
    value = _announce(api, file, {"owner": owner})
    api.upload_bytes(_address(value), opened)
    return _urn(value, file)


def _send_video(api: Api, owner: str, file: MediaFile, opened: BinaryIO) -> str:
    details = {"owner": owner, "fileSizeBytes": file.size_bytes, "uploadCaptions": False, "uploadThumbnail": False}
    value = _announce(api, file, details)
    urn, deadline, parts = _urn(value, file), time.monotonic() + VIDEO_SECONDS, []
    for part in _parts(value, file.size_bytes):
        if time.monotonic() > deadline:
            raise Transient(gettext_noop("The video could not be sent to LinkedIn in time."))
        opened.seek(part["firstByte"])
        parts.append(_send_part(api, _address(part), opened.read(part["lastByte"] - part["firstByte"] + 1)))
    token = value.get("uploadToken")
    finished = {"video": urn, "uploadToken": token if isinstance(token, str) else "", "uploadedPartIds": parts}
    api.post_json("/rest/videos?action=finalizeUpload", {"finalizeUploadRequest": finished})
    return urn


def _send_part(api: Api, address: str, content: bytes) -> str:
    """Upload one part of a video to LinkedIn, with several tries after network errors."""
    for left in reversed(range(PART_TRIES)):
        try:
            etag = api.upload_bytes(address, content).headers.get("ETag", "").strip('"')
        except (OutboundError, LinkedInError) as error:
            if not left or (isinstance(error, LinkedInError) and error.status < 500):
                raise
        else:
            if etag:
                return etag
    raise UnreadableAnswer("The answer does not name the part.")


def _announce(api: Api, file: MediaFile, details: Mapping[str, Any]) -> dict[str, Any]:
    path = f"/rest/{COLLECTIONS[file.kind]}?action=initializeUpload"
    value = api.post(path, json={"initializeUploadRequest": details}).get("value")
    if not isinstance(value, dict):
        raise UnreadableAnswer("The answer does not say where to upload to.")
    return value


def _parts(value: Mapping[str, Any], size: int) -> list[dict[str, Any]]:
    """Return the byte ranges in which LinkedIn wants a video. Raises UnreadableAnswer unless they cover the whole file."""
    parts = objects_in(value.get("uploadInstructions"))
    begins = 0
    for part in parts:
        first, last = part.get("firstByte"), part.get("lastByte")
        if first != begins or type(last) is not int or last < begins:
            break
        begins = last + 1
    if begins != size:
        raise UnreadableAnswer("The answer's parts are not the file.")
    return parts


def _address(value: Mapping[str, Any]) -> str:
    address = value.get("uploadUrl")
    if not isinstance(address, str):
        raise UnreadableAnswer("The answer does not say where to upload to.")
    return address


def _urn(value: Mapping[str, Any], file: MediaFile) -> str:
    urn = one_line(value.get(COLLECTIONS[file.kind].removesuffix("s")))
    if not urn.startswith("urn:li:"):
        raise UnreadableAnswer("The answer does not name the upload.")
    return urn


def _without_pending(state: State) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name not in ("pending", "looks")}


def _label(file: MediaFile) -> str:
    return file.filename or gettext_noop("the file")
