"""Media of a post: uploaded one by one, in segments where they are moving, and looked at until X has processed them.

An image goes in one call. A GIF or a video is announced, sent in segments of four megabytes, some of them in a step,
and finalized; X processes it behind. Alt texts are told afterwards; X takes none for a video. An upload that no post
takes up ends by itself after a day, so every step may be repeated. Source: docs.x.com, media upload.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.platforms.errors import ContentRejected, Transient
from accounts.platforms.http.responses import safe_line
from accounts.platforms.types import MediaFile, MediaKind, Progress
from accounts.platforms.x.client import ERRORS, Api, XError, data_of, id_of
from config.outbound import multipart

CATEGORIES: dict[MediaKind, str] = {"image": "tweet_image", "gif": "tweet_gif", "video": "tweet_video"}
UPLOAD_SECONDS = 120.0  # of one call
SEGMENT_BYTES = 4 * 1024 * 1024
SEGMENTS_A_STEP = 8
LONGEST_PAUSE_SECONDS = 60
MAX_LOOKS = 100  # an hour and a half, where X names the longest pause each time

Files = tuple[MediaFile, ...]
State = Mapping[str, Any]


def following(files: Files, state: State) -> Progress:
    """The step that the files still need, or else the one that makes the post."""
    if len(state["media"]) < len(files):
        return Progress("upload", state)
    for index, file in enumerate(files):
        if index >= state["described"] and file.alt_text and file.kind != "video":
            return Progress("describe", {**state, "described": index})
    return Progress("create", state)


def upload(api: Api, files: Files, state: State) -> Progress:
    """Upload the next file if it is a still image, else announce it. Raises as every step here: ContentRejected,
    TokenExpired, AccountDisconnected, ConnectionUnavailable, Transient."""
    file = files[len(state["media"])]
    category = CATEGORIES.get(file.kind)
    if category is None:
        raise ContentRejected(f"X takes no {file.kind}s.")
    with ERRORS.content_errors(_label(file)):
        if file.kind == "image" and file.mime_type != "image/gif":
            return _uploaded(files, state, _upload_whole(api, file, category))
        announced = {"media_type": file.mime_type, "total_bytes": file.size_bytes, "media_category": category}
        media_id = id_of(data_of(api.post("/2/media/upload/initialize", json=announced)))
    return Progress("append", {**state, "pending": media_id, "segment": 0, "looks": 0})


def append(api: Api, files: Files, state: State) -> Progress:
    """Send the next segments of the file that was announced; one that X has already is replaced."""
    file, first = files[len(state["media"])], state["segment"]
    count = -(-file.size_bytes // SEGMENT_BYTES)
    last = min(first + SEGMENTS_A_STEP, count)
    with file.open() as opened, ERRORS.content_errors(_label(file)):
        opened.seek(first * SEGMENT_BYTES)
        for index in range(first, last):
            body = multipart(
                {
                    "segment_index": str(index),
                    "media": ("segment", opened.read(SEGMENT_BYTES), "application/octet-stream"),
                }
            )
            path = f"/2/media/upload/{state['pending']}/append"
            api.post(path, data=body, headers={"Content-Type": body.content_type}, timeout=UPLOAD_SECONDS)
    return Progress("append" if last < count else "finalize", {**state, "segment": last})


def finalize(api: Api, files: Files, state: State) -> Progress:
    """Tell X that the file is whole. A try that got no answer may have done so, and X refuses a second one."""
    with ERRORS.content_errors(_label(files[len(state["media"])])):
        try:
            data = data_of(api.post(f"/2/media/upload/{state['pending']}/finalize"))
        except XError as refused:
            if refused.status != 400:
                raise
            try:
                data = _status(api, state)
            except XError:
                raise refused from None
    return _as_processed(files, state, data)


def process(api: Api, files: Files, state: State) -> Progress:
    """Look how far X is with the file."""
    with ERRORS.content_errors(_label(files[len(state["media"])])):
        data = _status(api, state)
    return _as_processed(files, state, data)


def describe(api: Api, files: Files, state: State) -> Progress:
    """Tell X the alt text of a file."""
    index = state["described"]
    told = {"id": state["media"][index], "metadata": {"alt_text": {"text": files[index].alt_text}}}
    with ERRORS.content_errors(f"the alt text of {_label(files[index])}"):
        api.post("/2/media/metadata", json=told)
    return following(files, {**state, "described": index + 1})


STEPS: dict[str, Callable[[Api, Files, State], Progress]] = {
    "upload": upload,
    "append": append,
    "finalize": finalize,
    "process": process,
    "describe": describe,
}


def _upload_whole(api: Api, file: MediaFile, category: str) -> str:
    with file.open() as opened:
        body = multipart({"media_category": category, "media": (_label(file), opened, file.mime_type)})
        answer = api.post(
            "/2/media/upload", data=body, headers={"Content-Type": body.content_type}, timeout=UPLOAD_SECONDS
        )
    return id_of(data_of(answer))


def _status(api: Api, state: State) -> dict[str, Any]:
    return data_of(api.get("/2/media/upload", {"command": "STATUS", "media_id": state["pending"]}))


def _as_processed(files: Files, state: State, data: Mapping[str, Any]) -> Progress:
    """What follows from how far X is: the next step, or another look. Raises ContentRejected, Transient."""
    told = data.get("processing_info")
    info = told if isinstance(told, dict) else {"state": "succeeded"}
    if info.get("state") == "succeeded":
        return _uploaded(files, state, state["pending"])
    if info.get("state") == "failed":
        error = info.get("error")
        reason = safe_line(error.get("message") or error.get("name")) if isinstance(error, dict) else ""
        label = _label(files[len(state["media"])])
        raise ContentRejected(f"X could not process {label}: {reason or 'no reason given'}")
    if state["looks"] >= MAX_LOOKS:
        raise Transient("X has not finished processing the media.")
    asked = info.get("check_after_secs")
    pause = min(max(asked, 1), LONGEST_PAUSE_SECONDS) if type(asked) is int else LONGEST_PAUSE_SECONDS
    ready_at = timezone.now() + timedelta(seconds=pause)
    return Progress("process", {**state, "looks": state["looks"] + 1}, ready_at=ready_at)


def _uploaded(files: Files, state: State, media_id: str) -> Progress:
    kept = {name: value for name, value in state.items() if name not in ("pending", "segment", "looks")}
    return following(files, {**kept, "media": [*state["media"], media_id]})


def _label(file: MediaFile) -> str:
    return file.filename or "the file"
