"""Media of an X post: uploaded one file after another, processed by X, and described by alt texts.

An image is uploaded in one call. A GIF or a video is announced, uploaded in parts of four megabytes, several of them in a
step, and finalized; then X processes it. Alt texts are sent afterwards; X accepts none for videos. X deletes an upload that
no post uses after a day, so every step may be repeated. Source: docs.x.com, media upload.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.errors import ContentRejected, Transient
from accounts.platforms.http.responses import NO_REASON, line_without_tokens, object_or_empty
from accounts.platforms.processing import step_to_check_later_or_raise
from accounts.platforms.types import MediaFile, MediaKind, Progress, State
from accounts.platforms.x.client import ERRORS, Api, XError, data_of, id_of
from config.outbound import build_multipart_body

CATEGORIES: dict[MediaKind, str] = {"image": "tweet_image", "gif": "tweet_gif", "video": "tweet_video"}
UPLOAD_SECONDS = 120.0  # timeout of one call
SEGMENT_BYTES = 4 * 1024 * 1024
SEGMENTS_A_STEP = 8
LONGEST_PAUSE_SECONDS = 60
MAX_CHECKS = 100  # an hour and a half if X asks for the longest pause each time

Files = tuple[MediaFile, ...]


def next_media_or_create_step(files: Files, progress: Progress, state: State) -> Progress:
    """Return the step for an X post's next media: upload a file or send an alt text; if none is left, create the post."""
    if len(state["media"]) < len(files):
        return progress.with_next_step("upload", state)
    for index, file in enumerate(files):
        if index >= state["described"] and file.alt_text and file.kind != "video":
            return progress.with_next_step("describe", {**state, "described": index})
    return progress.with_next_step("create", state)


def upload_image_or_start_video_upload(api: Api, files: Files, progress: Progress) -> Progress:
    """Upload an X post's next media file if it is a still image; only announce a video or GIF.

    Videos and GIFs are then uploaded in parts.

    Like all steps here, it raises ContentRejected, TokenExpired, ReauthRequired, ConnectionUnavailable, Transient.
    """
    file = _current(files, progress)
    category = CATEGORIES.get(file.kind)
    if category is None:
        raise ContentRejected(f"X does not accept {file.kind}s.")
    with ERRORS.translating_content_call_errors(_label(file)):
        if file.kind == "image" and file.mime_type != "image/gif":
            with file.open() as opened:
                form = {"media_category": category, "media": (_label(file), opened, file.mime_type)}
                return _uploaded(files, progress, id_of(data_of(_post_form(api, "/2/media/upload", form))))
        announced = {"media_type": file.mime_type, "total_bytes": file.size_bytes, "media_category": category}
        media_id = id_of(data_of(api.post("/2/media/upload/initialize", json=announced)))
    return progress.with_next_step("append", {**progress.state, "pending": media_id, "segment": 0, "looks": 0})


def upload_next_parts(api: Api, files: Files, progress: Progress) -> Progress:
    """Upload the next parts of an announced video or GIF to X.

    Uploading a part twice does no harm.
    """
    file, state = _current(files, progress), progress.state
    first = state["segment"]
    count = -(-file.size_bytes // SEGMENT_BYTES)
    last = min(first + SEGMENTS_A_STEP, count)
    with file.open() as opened, ERRORS.translating_content_call_errors(_label(file)):
        opened.seek(first * SEGMENT_BYTES)
        for index in range(first, last):
            part = ("segment", opened.read(SEGMENT_BYTES), "application/octet-stream")
            _post_form(api, f"/2/media/upload/{state['pending']}/append", {"segment_index": str(index), "media": part})
    return progress.with_next_step("append" if last < count else "finalize", {**state, "segment": last})


def finalize_upload_and_return_next_step(api: Api, files: Files, progress: Progress) -> Progress:
    """Tell X that all parts of a media file are uploaded, and return the progress with the step that follows.

    X refuses to finalize a file twice, so a refusal leads to asking for the file's state.
    """
    with ERRORS.translating_content_call_errors(_label(_current(files, progress))):
        try:
            data = data_of(api.post(f"/2/media/upload/{progress.state['pending']}/finalize"))
        except XError as refused:
            if refused.status != 400:
                raise
            try:
                data = _status(api, progress.state)
            except XError:
                raise refused from None
    return _after_check(files, progress, data)


def check_processing(api: Api, files: Files, progress: Progress) -> Progress:
    """Ask whether X has processed the uploaded media file."""
    with ERRORS.translating_content_call_errors(_label(_current(files, progress))):
        data = _status(api, progress.state)
    return _after_check(files, progress, data)


def send_alt_text(api: Api, files: Files, progress: Progress) -> Progress:
    """Send the alt text of an uploaded media file to X."""
    state, index = progress.state, progress.state["described"]
    metadata = {"id": state["media"][index], "metadata": {"alt_text": {"text": files[index].alt_text}}}
    with ERRORS.translating_content_call_errors(f"the alt text of {_label(files[index])}"):
        api.post("/2/media/metadata", json=metadata)
    return next_media_or_create_step(files, progress, {**state, "described": index + 1})


STEPS: dict[str, Callable[[Api, Files, Progress], Progress]] = {
    "upload": upload_image_or_start_video_upload,
    "append": upload_next_parts,
    "finalize": finalize_upload_and_return_next_step,
    "process": check_processing,
    "describe": send_alt_text,
}


def _post_form(api: Api, path: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    body = build_multipart_body(fields)
    return api.post(path, data=body, headers={"Content-Type": body.content_type}, timeout=UPLOAD_SECONDS)


def _status(api: Api, state: State) -> dict[str, Any]:
    return data_of(api.get("/2/media/upload", {"command": "STATUS", "media_id": state["pending"]}))


def _after_check(files: Files, progress: Progress, data: Mapping[str, Any]) -> Progress:
    """Return the next publishing step of an X post after X has reported whether it has processed a media file.

    Raises ContentRejected, Transient.
    """
    info = data.get("processing_info")
    if not isinstance(info, dict) or info.get("state") == "succeeded":
        return _uploaded(files, progress, progress.state["pending"])
    if info.get("state") == "failed":
        error = object_or_empty(info.get("error"))
        reason = line_without_tokens(error.get("message") or error.get("name")) or NO_REASON
        raise ContentRejected(f"X could not process {_label(_current(files, progress))}: {reason}")
    asked = info.get("check_after_secs")
    pause = min(max(asked, 1), LONGEST_PAUSE_SECONDS) if type(asked) is int else LONGEST_PAUSE_SECONDS
    timeout = Transient(gettext_noop("X has not finished processing the media."))
    return step_to_check_later_or_raise(
        progress, "process", progress.state, first=pause, longest=pause, max_checks=MAX_CHECKS, timeout=timeout
    )


def _uploaded(files: Files, progress: Progress, media_id: str) -> Progress:
    state = progress.state
    rest = {name: value for name, value in state.items() if name not in ("pending", "segment", "looks")}
    return next_media_or_create_step(files, progress, {**rest, "media": [*state["media"], media_id]})


def _current(files: Files, progress: Progress) -> MediaFile:
    return files[len(progress.state["media"])]


def _label(file: MediaFile) -> str:
    return file.filename or gettext_noop("the file")
