"""A pin's video: announced, sent to the address that Pinterest names for it, and looked at until it is processed.

The fields of a form, which Pinterest gives with the address, open it for a while; so announcing and sending are one step.
A video that no pin takes up is shown nowhere, so every step may be repeated. Source: github.com/pinterest/api-description
5.23, media.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from accounts.platforms.errors import ContentRejected, Transient
from accounts.platforms.http.responses import UnreadableAnswer
from accounts.platforms.pinterest.client import ERRORS, Api, PinterestError, id_of
from accounts.platforms.processing import ask_again
from accounts.platforms.types import MediaFile, Progress
from config.outbound import OutboundError, multipart, request

UPLOAD_SECONDS, SLOWEST_UPLOAD = 60.0, 500_000  # at the least, and bytes in a second
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 5.0, 60.0  # between checks whether the video is processed
MAX_CHECKS = 60

State = Mapping[str, Any]


def upload(api: Api, file: MediaFile, state: State) -> Progress:
    """Announce the video and send it. Raises as every step here: ContentRejected, TokenExpired, AccountDisconnected,
    ConnectionUnavailable, Transient."""
    with ERRORS.content_errors("the video"):
        announced = api.post("/media", json={"media_type": "video"})
        media_id = id_of(announced, "media_id")
        address, fields = _form(announced, api.address)
    _send(address, fields, file)
    return Progress("process", {**state, "media_id": media_id, "looks": 0})


def process(api: Api, state: State) -> Progress:
    """Ask whether Pinterest has processed the video; one that it has forgotten is uploaded again."""
    try:
        status = api.get(f"/media/{state['media_id']}").get("status")
    except (OutboundError, PinterestError) as error:
        if isinstance(error, PinterestError) and error.status == 404 and (again := upload_again(state)):
            return again
        raise ERRORS.platform_error(error) from error
    if status == "succeeded":
        return Progress("create", state)
    if status == "failed":
        raise ContentRejected("Pinterest could not process the video.")
    timeout = Transient("Pinterest has not finished processing the video.")
    return ask_again(
        "process",
        state,
        first=FIRST_PAUSE_SECONDS,
        longest=LONGEST_PAUSE_SECONDS,
        max_checks=MAX_CHECKS,
        timeout=timeout,
    )


def upload_again(state: State) -> Progress | None:
    """The step that uploads a video again which Pinterest no longer accepts; None if it was uploaded again before."""
    if state.get("again"):
        return None
    return Progress("upload", {"board": state["board"], "again": True})


def _form(announced: Mapping[str, Any], api: str) -> tuple[str, dict[str, str]]:
    """Where the file goes, and the fields before it. Raises UnreadableAnswer."""
    address, fields = announced.get("upload_url"), announced.get("upload_parameters")
    if not isinstance(address, str) or not isinstance(fields, dict):
        raise UnreadableAnswer("The answer names no address for the upload.")
    told, own = urlsplit(address), urlsplit(api)
    if told.scheme != "https" and (told.scheme, told.netloc) != (own.scheme, own.netloc):
        raise UnreadableAnswer("The address for the upload is none that a file is sent to.")
    return address, {str(name): str(value) for name, value in fields.items()}


def _send(address: str, fields: Mapping[str, str], file: MediaFile) -> None:
    with file.open() as opened:
        body = multipart({**fields, "file": (file.filename or "video", opened, file.mime_type)})
        headers = {"Content-Type": body.content_type}
        seconds = UPLOAD_SECONDS + file.size_bytes / SLOWEST_UPLOAD
        try:
            answer = request("POST", address, data=body, headers=headers, timeout=seconds)
        except OutboundError as error:
            raise Transient("Pinterest's storage of videos could not be reached.") from error
    if not 200 <= answer.status < 300:
        raise Transient(f"Pinterest's storage of videos answered {answer.status}.")
