"""Media of Facebook posts: uploading photos and videos, and asking for the status of videos.

A video of a post is sent in the parts that Facebook asks for, to the API's host for videos. A video of a reel or story is
announced at the API's usual host and sent whole to an address that Facebook names. Facebook deletes what no post has used
after about a day, so every step may be repeated. Sources: developers.facebook.com, pages-api/posts (photos),
graph-api/video-uploads (the host, the phases), graph-api/reference/video-status, video-api/reference/error-codes and
video-api/guides/reels-publishing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal

from django.utils.translation import gettext_noop

from accounts.platforms.errors import ContentRejected, Transient
from accounts.platforms.facebook.errors import ERRORS
from accounts.platforms.facebook.page import FacebookPageClient, permalink_or_fallback
from accounts.platforms.facebook.post_kinds import VIDEO_KINDS, PostKind, kind_of
from accounts.platforms.facebook.reel_limit import MAX_ATTEMPTS_WITH_REEL_CHECK, check_reel_limit
from accounts.platforms.http.responses import (
    NO_REASON,
    UnreadableAnswer,
    line_without_tokens,
    object_or_empty,
    objects_in,
    required_json_object,
)
from accounts.platforms.meta.errors import GraphError
from accounts.platforms.meta.graph import Graph, id_of
from accounts.platforms.types import Content, MediaFile, Progress, State
from accounts.platforms.upload_addresses import decrypt_upload_url_or_none, encrypt_upload_url, is_platform_upload_url

UPLOAD_SECONDS = 600.0  # timeout of one call
PARTS_PER_STEP = 8
MAX_UPLOAD_SESSIONS = 2
VIDEO_API_PATHS: dict[PostKind, str] = {"video": "videos", "reel": "video_reels", "video_story": "video_stories"}
UPLOAD_DOMAIN = "facebook.com"
WRONG_OFFSET_CODE = 1363037  # the next part begins at another byte, which the error's data names

VideoStatus = Literal["unpublished", "processing", "published", "failed"]
FAILED_STATUSES = frozenset({"error", "expired", "upload_failed"})


@dataclass(frozen=True)
class FacebookVideoStatus:
    """The status of a video at Facebook: whether the whole file has arrived, and the reason if processing has failed."""

    status: VideoStatus
    permalink: str
    is_uploaded: bool
    reason: str


def next_upload_or_create_step(content: Content, progress: Progress, state: State) -> Progress:
    """Return the publishing step that uploads the next file to Facebook or, after all uploads, creates the post."""
    kind = kind_of(content)
    if kind in VIDEO_KINDS and "video" not in state:
        return progress.with_next_step("open", state)
    if kind in ("photos", "photo_story") and len(state["photos"]) < len(content.media):
        return progress.with_next_step("photo", state)
    return progress.with_next_step("create", state)


def upload_next_photo(page: FacebookPageClient, content: Content, progress: Progress) -> Progress:
    """Upload the next photo of a Facebook post.

    All steps here raise ContentRejected, TokenExpired, ReauthRequired, ConnectionUnavailable and Transient.
    """
    state = progress.state
    file = content.media[len(state["photos"])]
    with file.open() as opened:
        fields: dict[str, Any] = {"published": "false", "source": (file_name_or_placeholder(file), opened, file.mime_type)}
        if file.alt_text:
            fields["alt_text_custom"] = file.alt_text
        with ERRORS.translating_content_call_errors(file_name_or_placeholder(file)):
            photo = id_of(page.graph.post_multipart(f"/{page.id}/photos", fields, timeout=UPLOAD_SECONDS))
    return next_upload_or_create_step(content, progress, {**state, "photos": [*state["photos"], photo]})


def check_reel_limit_and_open_upload(page: FacebookPageClient, content: Content, progress: Progress) -> Progress:
    """Tell Facebook that a video will be uploaded, and store the video's id from the response.

    The first attempts raise RateLimited if the page may not publish more reels today.
    """
    file, kind, state = content.media[0], kind_of(content), progress.state
    form = {"upload_phase": "start"} | ({"file_size": str(file.size_bytes)} if kind == "video" else {})
    if kind == "reel" and content.attempt <= MAX_ATTEMPTS_WITH_REEL_CHECK:
        check_reel_limit(page, content.attempt)
    with ERRORS.translating_content_call_errors(file_name_or_placeholder(file)):
        answer = graph_client_for_post_kind(page, kind).post_form(f"/{page.id}/{VIDEO_API_PATHS[kind]}", form)
        opened: dict[str, Any] = {"video": id_of(answer, "video_id"), "sessions": state.get("sessions", 0) + 1}
        if kind == "video":
            opened |= {"session": id_of(answer, "upload_session_id"), **_offsets(answer)}
        else:
            address = answer.get("upload_url")
            if not isinstance(address, str) or not is_platform_upload_url(address, page.graph.address, UPLOAD_DOMAIN):
                raise UnreadableAnswer("The response has no address of Facebook's for the upload.")
            opened["address"] = encrypt_upload_url(address, key=content.key)
    return progress.with_next_step("send", {**state, **opened})


def upload_video_or_next_parts(page: FacebookPageClient, content: Content, progress: Progress) -> Progress:
    """Upload a video to Facebook: for a reel or story the whole file, for an ordinary post the next parts.

    After a refusal the video may be uploaded already, by an attempt without a response; if not, another session is opened,
    once.
    """
    file, state = content.media[0], progress.state
    try:
        with ERRORS.translating_content_call_errors(file_name_or_placeholder(file)):
            if "session" in state:
                return _send_parts(page, file, progress)
            return _send_whole(page, file, content, progress)
    except ContentRejected:
        if "address" in state and fetch_video_status(page, state["video"]).is_uploaded:
            return progress.with_next_step("create", state)
        if state["sessions"] >= MAX_UPLOAD_SESSIONS:
            raise
        return progress.with_next_step("open", state)


def fetch_video_status(page: FacebookPageClient, video_id: str) -> FacebookVideoStatus:
    """Ask Facebook for the status of an uploaded video. Raises TokenExpired, ReauthRequired, Transient."""
    with ERRORS.translating_repeatable_call_errors():
        answer = page.graph.get(f"/{video_id}", {"fields": "status,published,permalink_url"})
    status = object_or_empty(answer.get("status"))
    return FacebookVideoStatus(
        status=_status_in(answer, status),
        permalink=permalink_or_fallback(answer.get("permalink_url"), f"reel/{video_id}"),
        is_uploaded=object_or_empty(status.get("uploading_phase")).get("status") == "complete",
        reason=_failure_reason(status),
    )


def graph_client_for_post_kind(page: FacebookPageClient, kind: PostKind) -> Graph:
    """Return the Graph API client that publishes a kind of Facebook post: ordinary videos have a separate host."""
    return page.video_graph if kind == "video" else page.graph


def file_name_or_placeholder(file: MediaFile) -> str:
    """Return the file name of a photo or video for Facebook and for error messages; "the file" if it has no name."""
    return file.filename or gettext_noop("the file")


def _send_parts(page: FacebookPageClient, file: MediaFile, progress: Progress) -> Progress:
    state = progress.state
    with file.open() as opened:
        for _ in range(PARTS_PER_STEP):
            if state["offset"] >= state["end"]:
                return progress.with_next_step("create", state)
            following = _send_part(page, opened, file, state)
            if following["offset"] == state["offset"] < following["end"]:
                raise Transient(gettext_noop("Facebook did not accept the next part of the video."))
            state = {**state, **following}
    return progress.with_next_step("send", state)


def _send_part(page: FacebookPageClient, opened: BinaryIO, file: MediaFile, state: State) -> dict[str, int]:
    """Upload one part of a video to Facebook.

    Returns where the next part begins and ends, which is the same byte after the last part.
    """
    opened.seek(state["offset"])
    part = _Part(opened, min(state["end"], file.size_bytes) - state["offset"])
    fields = {
        "upload_phase": "transfer",
        "upload_session_id": state["session"],
        "start_offset": str(state["offset"]),
        "video_file_chunk": (file_name_or_placeholder(file), part, "application/octet-stream"),
    }
    try:
        return _offsets(page.video_graph.post_multipart(f"/{page.id}/videos", fields, timeout=UPLOAD_SECONDS))
    except GraphError as error:
        if WRONG_OFFSET_CODE not in (error.subcode, error.number):
            raise
        return _offsets(error.data)


def _send_whole(page: FacebookPageClient, file: MediaFile, content: Content, progress: Progress) -> Progress:
    state = progress.state
    address = decrypt_upload_url_or_none(state["address"], key=content.key)
    if address is None:
        return progress.with_next_step("open", state)
    headers = {
        "Authorization": f"OAuth {page.graph.token}",
        "offset": "0",
        "file_size": str(file.size_bytes),
        "Content-Type": "application/octet-stream",
    }
    with file.open() as opened:
        part = _Part(opened, file.size_bytes)
        answer = page.graph.send_to_url("POST", address, headers=headers, data=part, timeout=UPLOAD_SECONDS)
    if required_json_object(answer).get("success") is not True:
        raise UnreadableAnswer("The response does not say that the video was uploaded.")
    return progress.with_next_step("create", state)


def _offsets(answer: Mapping[str, Any]) -> dict[str, int]:
    """Return which byte range of a video to upload next, from Facebook's response. Raises UnreadableAnswer."""
    offsets = {"offset": str(answer.get("start_offset")), "end": str(answer.get("end_offset"))}
    if not all(each.isascii() and each.isdecimal() and len(each) <= 15 for each in offsets.values()):
        raise UnreadableAnswer("The response does not say which part of the video is next.")
    return {name: int(each) for name, each in offsets.items()}


def _status_in(answer: Mapping[str, Any], status: Mapping[str, Any]) -> VideoStatus:
    """Return a video's status from Facebook's response: unpublished, processing, published or failed.

    It is `processing` too if Facebook is about to publish the video.
    """
    video, published = status.get("video_status"), answer.get("published")
    processing, publishing = (
        object_or_empty(status.get(f"{name}_phase")).get("status") for name in ("processing", "publishing")
    )
    if video in FAILED_STATUSES or "error" in (processing, publishing):
        return "failed"
    if publishing == "complete" or (publishing is None and (published or (video == "ready" and published is None))):
        return "published"
    if publishing == "in_progress" or processing in ("in_progress", "complete"):
        return "processing"
    return "processing" if video == "processing" and publishing is None else "unpublished"


def _failure_reason(status: Mapping[str, Any]) -> str:
    for name in ("uploading_phase", "processing_phase", "publishing_phase"):
        phase = object_or_empty(status.get(name))
        errors = phase.get("errors") or phase.get("error")
        for error in objects_in(errors if isinstance(errors, list) else [errors]):
            if reason := line_without_tokens(error.get("message")):
                return reason
    return NO_REASON


class _Part:
    """A part of an open video file as the body of an upload request to Facebook."""

    def __init__(self, opened: BinaryIO, length: int) -> None:
        self._opened = opened
        self.len = max(length, 0)

    def read(self, size: int = -1) -> bytes:
        wanted = self.len if size is None or size < 0 else min(size, self.len)
        piece = self._opened.read(wanted)
        self.len -= len(piece) if piece else self.len
        return piece
