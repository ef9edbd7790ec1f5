"""Uploads that show nowhere until a post takes them up: photos one by one, videos in parts.

A video that becomes a post goes in the parts that Facebook asks for, to the API's host for videos. One that becomes a reel
or a story is announced at the API's usual host and goes whole to an address that Facebook gives out. Facebook forgets
after about a day what nothing took up, so every step may be repeated. Sources: developers.facebook.com, pages-api/posts
(photos), graph-api/video-uploads (the host, the phases), video-api/reference/error-codes and
video-api/guides/reels-publishing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO

from accounts.platforms.errors import ContentRejected, Transient
from accounts.platforms.facebook import reels
from accounts.platforms.facebook.forms import OF_A_VIDEO, Form, form_of
from accounts.platforms.facebook.page import PRODUCT, Page
from accounts.platforms.facebook.videos import look_at
from accounts.platforms.meta.graph import Graph, GraphError, UnreadableAnswer, call, id_of
from accounts.platforms.types import Content, MediaFile, Progress
from accounts.platforms.upload_addresses import is_own, open_address, seal_address
from config.outbound import multipart

UPLOAD_SECONDS = 600.0  # of one call
PARTS_A_STEP = 8
MAX_SESSIONS = 2
EDGES: dict[Form, str] = {"video": "videos", "reel": "video_reels", "video_story": "video_stories"}
DOMAIN = "facebook.com"
# The parts that follow begin elsewhere than was thought; `error_data` says where.
OTHER_OFFSET = 1363037

State = Mapping[str, Any]


def following(content: Content, state: State) -> Progress:
    """The step that the media still need, or else the one that publishes."""
    form = form_of(content)
    if form in OF_A_VIDEO and "video" not in state:
        return Progress("open", state)
    if form in ("photos", "photo_story") and len(state["photos"]) < len(content.media):
        return Progress("photo", state)
    return Progress("create", state)


def upload_photo(page: Page, content: Content, state: State) -> Progress:
    """Upload the next photo. Raises ContentRejected, TokenExpired, AccountDisconnected, ConnectionUnavailable,
    Transient, as every step here."""
    file = content.media[len(state["photos"])]
    with file.open() as opened:
        fields: dict[str, Any] = {"published": "false", "source": (label(file), opened, file.mime_type)}
        if file.alt_text:
            fields["alt_text_custom"] = file.alt_text
        body = multipart(fields)
        with PRODUCT.content_faults(label(file)):
            photo = id_of(page.graph.post_multipart(f"/{page.id}/photos", body, timeout=UPLOAD_SECONDS))
    return following(content, {**state, "photos": [*state["photos"], photo]})


def open_session(page: Page, content: Content, state: State) -> Progress:
    """Announce the video; its id is known from here on. A reel is announced only if the page may publish more today:
    otherwise RateLimited is raised, at the first attempts."""
    file, form = content.media[0], form_of(content)
    asked = {"upload_phase": "start"} | ({"file_size": str(file.size_bytes)} if form == "video" else {})
    if form == "reel" and content.attempt <= reels.COUNTED_ATTEMPTS:
        reels.check(page, content.attempt)
    with PRODUCT.content_faults(label(file)):
        answer = graph_of(page, form).post(f"/{page.id}/{EDGES[form]}", asked)
        opened: dict[str, Any] = {"video": id_of(answer, "video_id"), "sessions": state.get("sessions", 0) + 1}
        if form == "video":
            opened |= {"session": id_of(answer, "upload_session_id"), **_offsets(answer)}
        else:
            opened["address"] = _sealed(answer.get("upload_url"), page, content.key)
    return Progress("send", {**state, **opened})


def send(page: Page, content: Content, state: State) -> Progress:
    """Send the video, or the next parts of it. What is refused may be there already, since an earlier try was unanswered;
    a session that Facebook no longer takes is opened anew, once."""
    file = content.media[0]
    try:
        with PRODUCT.content_faults(label(file)):
            if "session" in state:
                return _send_parts(page, file, state)
            return _send_whole(page, file, content, state)
    except ContentRejected:
        if "address" in state and look_at(page, state["video"]).arrived:
            return Progress("create", state)
        if state["sessions"] >= MAX_SESSIONS:
            raise
        return Progress("open", state)


def graph_of(page: Page, form: Form) -> Graph:
    """The API where this form of a video is announced and finished."""
    return page.video_graph if form == "video" else page.graph


def label(file: MediaFile) -> str:
    """What a file is called in messages and uploads."""
    return file.filename or "the file"


def _send_parts(page: Page, file: MediaFile, state: State) -> Progress:
    offset, end = state["offset"], state["end"]
    with file.open() as opened:
        for _ in range(PARTS_A_STEP):
            if offset >= end:
                return Progress("create", {**state, "offset": offset, "end": end})
            behind = _send_part(page, opened, file, {**state, "offset": offset, "end": end})
            if behind["offset"] == offset < behind["end"]:
                raise Transient("Facebook did not take the next part of the video.")
            offset, end = behind["offset"], behind["end"]
    return Progress("send", {**state, "offset": offset, "end": end})


def _send_part(page: Page, opened: BinaryIO, file: MediaFile, state: State) -> dict[str, int]:
    """Where the part behind the one that is sent begins and ends; both are the same behind the last."""
    opened.seek(state["offset"])
    part = _Part(opened, min(state["end"], file.size_bytes) - state["offset"])
    body = multipart(
        {
            "upload_phase": "transfer",
            "upload_session_id": state["session"],
            "start_offset": str(state["offset"]),
            "video_file_chunk": (label(file), part, "application/octet-stream"),
        }
    )
    try:
        answer: Mapping[str, Any] = page.video_graph.post_multipart(f"/{page.id}/videos", body, timeout=UPLOAD_SECONDS)
    except GraphError as error:
        if OTHER_OFFSET not in (error.subcode, error.code):
            raise
        answer = error.error_data
    return _offsets(answer)


def _send_whole(page: Page, file: MediaFile, content: Content, state: State) -> Progress:
    address = open_address(state["address"], key=content.key)
    if address is None:
        return Progress("open", state)
    headers = {
        "Authorization": f"OAuth {page.graph.token}",
        "offset": "0",
        "file_size": str(file.size_bytes),
        "Content-Type": "application/octet-stream",
    }
    with file.open() as opened:
        part = _Part(opened, file.size_bytes)
        answer = call("POST", address, headers=headers, data=part, timeout=UPLOAD_SECONDS)
    if answer.get("success") is not True:
        raise UnreadableAnswer("The answer does not say that the video has arrived.")
    return Progress("create", state)


def _sealed(address: Any, page: Page, key: str) -> str:
    if not isinstance(address, str) or not is_own(address, page.graph.address, DOMAIN):
        raise UnreadableAnswer("The answer holds no address of Facebook's to send the video to.")
    return seal_address(address, key=key)


def _offsets(answer: Mapping[str, Any]) -> dict[str, int]:
    """Where the next part begins and ends; Graph tells numbers as text. Raises UnreadableAnswer."""
    told = {"offset": str(answer.get("start_offset")), "end": str(answer.get("end_offset"))}
    if not all(each.isascii() and each.isdecimal() and len(each) <= 15 for each in told.values()):
        raise UnreadableAnswer("The answer does not say which part of the video is next.")
    return {name: int(each) for name, each in told.items()}


class _Part:
    """A part of an open file as a body that is read while it is sent; `len` are the bytes that are left of it."""

    def __init__(self, opened: BinaryIO, length: int) -> None:
        self._opened = opened
        self.len = max(length, 0)

    def read(self, size: int = -1) -> bytes:
        wanted = self.len if size is None or size < 0 else min(size, self.len)
        piece = self._opened.read(wanted)
        self.len -= len(piece) if piece else self.len
        return piece
