"""The steps that find the board of a Pinterest pin and create the pin.

Pinterest has no idempotency key, and a pin of this service cannot be distinguished from one that the owner created with the
same text. So if the response is missing, the outcome stays unknown. Images are part of the request as base64, which is
written to a file first because they may be large. Pinterest accepts one alt text for several images: the first one. Source:
github.com/pinterest/api-description 5.23, boards/list and pins/create.
"""

from __future__ import annotations

import base64
import json
import re
import secrets
import tempfile
from collections.abc import Iterator, Mapping
from typing import IO, Any

from django.utils.translation import gettext_noop

from accounts.platforms.errors import ContentRejected, Transient
from accounts.platforms.http.responses import UnreadableAnswer, objects_in, one_line
from accounts.platforms.pinterest import video
from accounts.platforms.pinterest.client import ERRORS, SITE, Api, PinterestError, id_of
from accounts.platforms.types import Content, MediaFile, Progress, Published

SLOWEST_BYTES_PER_SECOND = 500_000
CHUNK_BYTES = 3 * 256 * 1024
OPTIONS = ("board_section_id", "title", "link")
PAGE_SIZE, MAX_BOARDS = 250, 2000
MAX_NAMED_BOARDS = 10  # maximum number in an error message
_BOARD_ID = re.compile(r"[0-9]{10,32}")  # fewer digits are a name, such as 2026


def find_board_and_return_first_step(api: Api, content: Content) -> Progress:
    """Begin to publish a Pinterest pin: find its board. Raises PlatformError, such as ContentRejected without a board."""
    if not content.media:
        raise ContentRejected(gettext_noop("A pin needs an image or a video."))
    state = {"board": _board_id(api, content.options["board"])}
    return Progress("upload" if content.media[0].kind == "video" else "create", state)


def create_pin(api: Api, content: Content, progress: Progress) -> Progress | Published:
    """Create the pin at Pinterest. Raises PlatformError; OutcomeUnknown means that the pin may have been created."""
    with ERRORS.translating_publish_errors(gettext_noop("this pin"), final=True):
        try:
            pin_id = id_of(_post(api, content, progress.state))
        except PinterestError as error:
            about_video = "media_id" in progress.state and error.status in (400, 404) and "media" in error.reason.lower()
            if about_video and (again := video.upload_again_step_or_none(progress)):
                return again
            raise
    return Published(pin_id, f"{SITE}/pin/{pin_id}/")


def _board_id(api: Api, board: str) -> str:
    """Return the id of the board for a Pinterest pin, from the board's name or id.

    Raises PlatformError, such as ContentRejected, which names the existing boards.
    """
    if _BOARD_ID.fullmatch(board):
        return board
    with ERRORS.translating_repeatable_call_errors():
        boards = list(_boards(api))
    for name, found in boards:
        if name == board.strip():
            return found
    names = ", ".join(name for name, _ in boards[:MAX_NAMED_BOARDS]) or "none"
    more = f" and {len(boards) - MAX_NAMED_BOARDS} more" if len(boards) > MAX_NAMED_BOARDS else ""
    raise ContentRejected(f"The account has no board of this name; it has {names}{more}.")


def _boards(api: Api) -> Iterator[tuple[str, str]]:
    """List the names and ids of the account's boards, among which the board for a Pinterest pin is found."""
    params = {"page_size": str(PAGE_SIZE)}
    for _ in range(MAX_BOARDS // PAGE_SIZE):
        page = api.get("/boards", params)
        items = page.get("items")
        if not isinstance(items, list):
            raise UnreadableAnswer("The response is not a list of boards.")
        yield from ((one_line(each.get("name")), id_of(each)) for each in objects_in(items))
        if not page.get("bookmark"):
            return
        params["bookmark"] = str(page["bookmark"])


def _post(api: Api, content: Content, state: Mapping[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryFile() as body:
        try:
            _write(_pin(content, state), () if "media_id" in state else content.media, body)
        except Exception as fault:  # a storage may raise any error, and nothing was sent yet
            raise Transient(gettext_noop("The files of the post could not be read.")) from fault
        seconds = api.timeout_seconds + body.tell() / SLOWEST_BYTES_PER_SECOND
        body.seek(0)
        return api.post("/pins", data=body, headers={"Content-Type": "application/json"}, timeout=seconds)


def _pin(content: Content, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON of a Pinterest pin, except for the images' data."""
    alt_text = next((file.alt_text for file in content.media if file.alt_text), "")
    texts = {"description": content.text, "alt_text": alt_text}
    return {
        "board_id": state["board"],
        **{name: value for name, value in texts.items() if value.strip()},
        **{name: content.options[name] for name in OPTIONS if name in content.options},
        "media_source": _video(content, state) if "media_id" in state else _images(content.media),
    }


def _video(content: Content, state: Mapping[str, Any]) -> dict[str, Any]:
    source = {"source_type": "video_id", "media_id": state["media_id"]}
    if "cover_image_url" in content.options:
        return {**source, "cover_image_url": content.options["cover_image_url"]}
    return {**source, "cover_image_key_frame_time": content.options.get("cover_seconds", 0)}


def _images(files: tuple[MediaFile, ...]) -> dict[str, Any]:
    images = [{"content_type": file.mime_type, "data": ""} for file in files]
    if len(images) == 1:
        return {"source_type": "image_base64", **images[0]}
    return {"source_type": "multiple_image_base64", "items": images, "index": 0}


def _write(pin: dict[str, Any], images: tuple[MediaFile, ...], body: IO[bytes]) -> None:
    """Write the JSON of a Pinterest pin to a file, with its images in base64."""
    placeholder = secrets.token_hex(16)  # random, so no text contains it
    for each in pin["media_source"].get("items", [pin["media_source"]]):
        if "data" in each:
            each["data"] = placeholder
    first, *further = json.dumps(pin).encode().split(placeholder.encode())
    body.write(first)
    for file, rest in zip(images, further, strict=True):
        with file.open() as image:
            _write_base64(image, body)
        body.write(rest)
    body.flush()


def _write_base64(source: IO[bytes], to: IO[bytes]) -> None:
    rest = b""
    while chunk := source.read(CHUNK_BYTES):
        whole = rest + chunk
        cut = len(whole) - len(whole) % 3
        to.write(base64.b64encode(whole[:cut]))
        rest = whole[cut:]
    to.write(base64.b64encode(rest))
