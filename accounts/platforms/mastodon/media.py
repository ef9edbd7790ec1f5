"""Media of a Mastodon status: uploading the files one by one, and waiting until the server has processed them.

An image is ready at once; a video or an animated GIF is accepted (202) and processed later. The server removes an upload
that no status uses after a day. Source: docs.joinmastodon.org, methods/media.
"""

from __future__ import annotations

from typing import Any, Literal

from django.utils.translation import gettext_noop

from accounts.platforms.errors import ContentRejected, Transient
from accounts.platforms.http.responses import required_json_object
from accounts.platforms.mastodon.client import ERRORS, MastodonError, ServerClient, entity_id
from accounts.platforms.processing import step_to_check_later_or_raise
from accounts.platforms.types import MediaFile, Progress, State
from config.outbound import build_multipart_body

UPLOAD_SECONDS = 300.0
FIRST_PAUSE_SECONDS = 2.0
LONGEST_PAUSE_SECONDS = 60.0
MAX_CHECKS = 100  # about an hour and a half


def upload_next_file(server: ServerClient, files: tuple[MediaFile, ...], progress: Progress) -> Progress:
    """Upload the next media file of a Mastodon status.

    Without a response the file is uploaded again: nobody sees an unused upload.

    Raises ContentRejected, MastodonError, OutboundError.
    """
    media, pending = list(progress.state["media"]), list(progress.state["pending"])
    if len(media) < len(files):
        identifier, ready = _upload(server, files[len(media)])
        media.append(identifier)
        pending += [] if ready else [identifier]
    state = {**progress.state, "media": media, "pending": pending}
    if len(media) < len(files):
        return progress.with_next_step("upload", state)
    return _check_later(progress, state) if pending else progress.with_next_step("create", state)


def check_processing(server: ServerClient, progress: Progress) -> Progress:
    """Ask the Mastodon server whether it has processed the uploaded media.

    Raises as `upload_next_file`, and Transient if the processing takes too long.
    """
    pending = [
        identifier for identifier in progress.state["pending"] if fetch_processing_status(server, identifier) == "processing"
    ]
    state = {**progress.state, "pending": pending}
    return _check_later(progress, state) if pending else progress.with_next_step("create", state)


def fetch_processing_status(server: ServerClient, identifier: str) -> Literal["ready", "processing", "gone"]:
    """Ask the Mastodon server how far it has processed an uploaded media file.

    The result is `gone` if a status has used the file, or after a day.

    Raises ContentRejected if the server could not process the file, MastodonError, OutboundError.
    """
    try:
        response = server.send_to_url("GET", f"{server.address}/api/v1/media/{identifier}")
    except MastodonError as error:
        if error.status == 404:
            return "gone"
        if ERRORS.means_content_rejected(error):
            raise ContentRejected(f"The server could not process the media: {error.reason}") from error
        raise
    return "processing" if response.status == 206 else "ready"


def _check_later(progress: Progress, state: State) -> Progress:
    return step_to_check_later_or_raise(
        progress,
        "process",
        state,
        first=FIRST_PAUSE_SECONDS,
        longest=LONGEST_PAUSE_SECONDS,
        max_checks=MAX_CHECKS,
        timeout=Transient(gettext_noop("The server has not finished processing the media.")),
    )


def _upload(server: ServerClient, file: MediaFile) -> tuple[str, bool]:
    """Upload a media file to the Mastodon server. Returns the file's id and whether the file is processed already.

    The HTTP status says whether the file is ready, because some servers leave `url` empty.
    """
    name = file.filename or "file"
    with file.open() as opened, ERRORS.translating_content_call_errors(name):
        fields: dict[str, Any] = {"file": (name, opened, file.mime_type)}
        if file.alt_text:
            fields["description"] = file.alt_text
        body = build_multipart_body(fields)
        headers = {"Content-Type": body.content_type}
        url = f"{server.address}/api/v2/media"
        response = server.send_to_url("POST", url, data=body, headers=headers, timeout=UPLOAD_SECONDS)
        return entity_id(required_json_object(response)), response.status != 202
