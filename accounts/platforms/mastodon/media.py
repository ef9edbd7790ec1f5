"""Media of a status: uploaded one by one, and looked at until the server has processed them.

An image is ready at once; a video or an animated GIF is accepted (202) and processed behind. What no status takes up is
removed by the server after a day. Source: docs.joinmastodon.org, methods/media.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Literal

from django.utils import timezone

from accounts.platforms.errors import ContentRejected, Transient
from accounts.platforms.mastodon.client import REFUSALS, MastodonError, Server, entity_id
from accounts.platforms.types import MediaFile, Progress
from config.outbound import multipart

UPLOAD_SECONDS = 300.0
FIRST_LOOK_SECONDS = 2.0
LONGEST_PAUSE_SECONDS = 60.0
MAX_LOOKS = 100  # about an hour and a half


def upload_next(server: Server, files: tuple[MediaFile, ...], state: Mapping[str, Any]) -> Progress:
    """Upload the first file that has not been, and name the step that follows.

    Raises ContentRejected, MastodonError, OutboundError; an upload that was lost may be repeated, since it shows nowhere.
    """
    media, pending = list(state["media"]), list(state["pending"])
    if len(media) < len(files):
        identifier, ready = _upload(server, files[len(media)])
        media.append(identifier)
        pending += [] if ready else [identifier]
    following = {**state, "media": media, "pending": pending}
    if len(media) < len(files):
        return Progress("upload", following)
    if pending:
        return Progress("process", following, ready_at=timezone.now() + timedelta(seconds=FIRST_LOOK_SECONDS))
    return Progress("create", following)


def look(server: Server, state: Mapping[str, Any]) -> Progress:
    """Look how far the server is with what it was processing. Raises as `upload_next`, Transient when it takes too long."""
    pending = [identifier for identifier in state["pending"] if standing(server, identifier) == "processing"]
    following = {**state, "pending": pending, "looks": state["looks"] + 1}
    if not pending:
        return Progress("create", following)
    if state["looks"] >= MAX_LOOKS:
        raise Transient("The server has not finished processing the media.")
    pause = min(FIRST_LOOK_SECONDS * 2 ** following["looks"], LONGEST_PAUSE_SECONDS)
    return Progress("process", following, ready_at=timezone.now() + timedelta(seconds=pause))


def standing(server: Server, identifier: str) -> Literal["ready", "processing", "gone"]:
    """Where an upload stands; it is gone when a status has taken it up, or nothing did within a day.

    Raises ContentRejected when the server could not process it, MastodonError, OutboundError.
    """
    try:
        answer = server.get(f"/api/v1/media/{identifier}")
    except MastodonError as error:
        if error.status == 404:
            return "gone"
        if error.status in REFUSALS:
            raise ContentRejected(f"The server could not process the media: {_reason(error)}") from error
        raise
    return "processing" if answer.status == 206 else "ready"


def _upload(server: Server, file: MediaFile) -> tuple[str, bool]:
    """The upload's id, and whether it is ready. Some servers leave `url` empty all the same, so the status tells it."""
    with file.open() as opened:
        fields: dict[str, Any] = {"file": (file.filename or "file", opened, file.mime_type)}
        if file.alt_text:
            fields["description"] = file.alt_text
        body = multipart(fields)
        try:
            answer = server.post(
                "/api/v2/media", data=body, headers={"Content-Type": body.content_type}, timeout=UPLOAD_SECONDS
            )
        except MastodonError as error:
            if error.status in REFUSALS:
                raise ContentRejected(f"The server does not take {fields['file'][0]}: {_reason(error)}") from error
            raise
    return entity_id(answer.one()), answer.status != 202


def _reason(error: MastodonError) -> str:
    return error.message or "no reason given"
