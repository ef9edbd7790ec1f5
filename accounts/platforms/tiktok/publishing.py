"""The steps that publish a post at TikTok. Source: developers.tiktok.com, content posting.

An announced video gets a publish id, and nothing is visible before TikTok has the last byte. So the announcement may be
repeated, and TikTok says by the id how many bytes it has. TikTok fetches photos itself: the call that announces them also
publishes them, and without its response nobody has the id.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from accounts.platforms.errors import ContentRejected, OutcomeUnknown, Transient
from accounts.platforms.http.responses import UnreadableAnswer, text_in
from accounts.platforms.tiktok import posts, status
from accounts.platforms.tiktok.client import ERRORS, Api
from accounts.platforms.tiktok.transfer import (
    CHUNK_BYTES,
    TRANSFER_ERRORS,
    OutOfStep,
    TransferEnded,
    chunks_of,
    send_chunk,
)
from accounts.platforms.types import Absent, AskedById, Content, Progress
from accounts.platforms.upload_addresses import is_own, open_address, seal_address

CHUNKS_A_STEP = 4
DOMAIN = "tiktokapis.com"
_PUBLISH_ID = re.compile(r"[\x21-\x7e]{1,128}")

State = Mapping[str, Any]


def start(api: Api, content: Content, state: State) -> Progress:
    """Ask TikTok what the creator may post, and announce a video; nothing is visible yet.

    Raises as every step here: ContentRejected, TokenExpired, AccountDisconnected, ConnectionUnavailable, Transient.
    """
    if state.get("announced", 0) >= status.MAX_ANNOUNCEMENTS:
        raise Transient("TikTok repeatedly ends the upload before it is complete.")
    with ERRORS.content_errors("this post"):
        creator = posts.ask_creator(api)
        posts.check(content, creator)
        following = {"username": creator.username, "announced": state.get("announced", 0) + 1}
        if not posts.is_video(content):
            return Progress("create", {**following, "comment_disabled": creator.comment_disabled})
        publish_id, address = _announce(api, content, creator)
    sealed = seal_address(address, key=content.key)
    return _next_chunk(content, {**following, "publish_id": publish_id, "address": sealed, "chunks": 0})


def upload(api: Api, content: Content, state: State) -> Progress:
    """Send the next chunks of the video to TikTok, but not the last one."""
    [file] = content.media
    _, count = chunks_of(file)
    first = state["chunks"]
    last = min(first + CHUNKS_A_STEP, count - 1)
    try:
        address = _upload_address(content, state)
        with TRANSFER_ERRORS.content_errors("the video"), file.open() as opened:
            for index in range(first, last):
                send_chunk(address, file, opened, index)
    except TransferEnded:
        return _start_again(state)
    except OutOfStep:
        return _continue_at(content, state, _received(api, content, state) or 0)
    return _next_chunk(content, {**state, "chunks": last})


def finish(api: Api, content: Content, state: State) -> Progress:
    """Send the last chunk to TikTok, which publishes the video. Raises OutcomeUnknown if the chunk may have arrived."""
    [file] = content.media
    try:
        address = _upload_address(content, state)
        with TRANSFER_ERRORS.publish_errors("the video"), file.open() as opened:
            send_chunk(address, file, opened, state["chunks"])
    except TransferEnded:
        return _start_again(state)
    except OutOfStep:
        return _continue_at(content, state, _number(_received(api, content, state)))
    return status.first_check(state, state["publish_id"])


def create(api: Api, content: Content, state: State) -> Progress:
    """Announce photos to TikTok, which fetches and publishes them. Raises OutcomeUnknown if TikTok may do so."""
    body = posts.photo_body(content, comment_disabled=state["comment_disabled"])
    with ERRORS.publish_errors("the photos"):
        publish_id = _publish_id(api.post("/v2/post/publish/content/init/", json=body))
    return status.first_check(state, publish_id)


STEPS = {"start": start, "upload": upload, "finish": finish, "create": create, "poll": status.poll}


def find(api: Api, content: Content, state: State) -> Progress | Absent:
    """The next step if an earlier `finish` has sent the whole video to TikTok; Absent if TikTok still waits for bytes.

    Raises OutcomeUnknown for photos, whose publish id nobody has.
    """
    if "publish_id" not in state:
        raise OutcomeUnknown(
            "TikTok cannot be asked about photos whose announcement it did not answer. Look at the account: resolve the "
            "target with the post's address, or as not published, after which it can be retried.",
            final=True,
        )
    received = _number(_received(api, content, state))
    size = content.media[0].size_bytes
    if received < size:
        return Absent(AskedById(f"the upload has {received} of {size} bytes"))
    return _continue_at(content, state, received)


def _announce(api: Api, content: Content, creator: posts.Creator) -> tuple[str, str]:
    """Announce a video to TikTok. Returns its publish id and its upload address."""
    [file] = content.media
    size, count = chunks_of(file)
    source = {
        "source": "FILE_UPLOAD",
        "video_size": file.size_bytes,
        "chunk_size": size,
        "total_chunk_count": count,
    }
    body = {"post_info": posts.video_info(content, creator), "source_info": source}
    answer = api.post("/v2/post/publish/video/init/", json=body)
    address = answer.get("upload_url")
    if not isinstance(address, str) or not is_own(address, api.address, DOMAIN):
        raise UnreadableAnswer("The response names no upload address at TikTok.")
    return _publish_id(answer), address


def _publish_id(answer: Mapping[str, Any]) -> str:
    return text_in(answer, "publish_id", _PUBLISH_ID, "publish id")


def _upload_address(content: Content, state: State) -> str:
    address = open_address(state["address"], key=content.key)
    if address is None:
        raise TransferEnded
    return address


def _next_chunk(content: Content, state: State) -> Progress:
    _, count = chunks_of(content.media[0])
    return Progress("upload" if state["chunks"] < count - 1 else "finish", state)


def _received(api: Api, content: Content, state: State) -> int | None:
    """The number of bytes of the video that TikTok has; None if TikTok does not say.

    Raises OutcomeUnknown if TikTok refuses to answer, otherwise as every step.
    """
    try:
        with ERRORS.content_errors("the question"):
            current = status.ask(api, state["publish_id"])
    except ContentRejected as error:
        raise OutcomeUnknown(f"TikTok does not say what became of the video: {error.message}") from error
    return current.received if current.name == "PROCESSING_UPLOAD" else content.media[0].size_bytes


def _number(received: int | None) -> int:
    if received is None:
        raise OutcomeUnknown("TikTok does not say whether it has the whole video.")
    return received


def _continue_at(content: Content, state: State, received: int) -> Progress:
    """The step that sends the bytes which TikTok does not have.

    A worker may have stopped before it stored its progress.
    """
    if received >= content.media[0].size_bytes:
        return status.first_check(state, state["publish_id"])
    chunks, odd = divmod(received, CHUNK_BYTES)
    if odd or chunks <= state["chunks"]:
        return _start_again(state)
    return _next_chunk(content, {**state, "chunks": chunks})


def _start_again(state: State) -> Progress:
    """The step that announces the video to TikTok again, because TikTok does not publish a part of a video."""
    return Progress("start", {"announced": state["announced"]})
