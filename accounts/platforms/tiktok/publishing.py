"""The steps by which a post goes out, and what every answer to them means. Source: developers.tiktok.com, content posting.

A video that is announced gets a publish id, and nothing is to be seen of it before TikTok has the last byte; so its
announcement may be repeated, and how many bytes there are is asked by the id. Photos are fetched by TikTok: what
announces them publishes them, and an answer that is lost takes the id with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.platforms.errors import (
    ContentRejected,
    OutcomeUnknown,
    Transient,
)
from accounts.platforms.tiktok import creator, posts, status
from accounts.platforms.tiktok.client import Api, TikTokError, UnreadableAnswer, line, platform_errors, refusal
from accounts.platforms.tiktok.creator import Creator
from accounts.platforms.tiktok.transfer import CHUNK_BYTES, OutOfStep, OwnFault, Transfer, TransferEnded, plan
from accounts.platforms.types import Absent, AskedById, Content, Progress
from accounts.platforms.upload_addresses import is_own, open_address, seal_address
from config.outbound import NoAnswer, NotSent

CHUNKS_A_STEP = 4
TIKTOK = "tiktokapis.com"

State = Mapping[str, Any]


def start(api: Api, content: Content, state: State) -> Progress:
    """Ask what the creator may post, and announce a video; nothing is to be seen of it yet.

    Raises as every step here: ContentRejected, TokenExpired, AccountDisconnected, ConnectionUnavailable, Transient.
    """
    if state.get("announced", 0) >= status.MAX_ANNOUNCEMENTS:
        raise Transient("TikTok goes on ending the upload before it is whole.")
    with platform_errors():
        made_by = creator.ask(api)
        posts.check(content, made_by)
        following = {"username": made_by.username, "announced": state.get("announced", 0) + 1}
        if not posts.is_video(content):
            return Progress("create", {**following, "comment_disabled": made_by.comment_disabled})
        publish_id, address = _announce(api, content, made_by)
    sealed = seal_address(address, key=content.key)
    return _next_chunk(content, {**following, "publish_id": publish_id, "address": sealed, "chunks": 0})


def upload(api: Api, content: Content, state: State) -> Progress:
    """Send the next chunks, the last one left out."""
    [file] = content.media
    _, count = plan(file)
    first = state["chunks"]
    last = min(first + CHUNKS_A_STEP, count - 1)
    try:
        transfer = _transfer(content, state)
        with platform_errors(), file.open() as opened:
            for index in range(first, last):
                transfer.send(opened, index)
    except TransferEnded:
        return _begin_anew(state)
    except OwnFault as fault:
        raise Transient(f"TikTok answered {fault} to the video's bytes.") from fault
    except OutOfStep:
        return _go_on(content, state, _received(api, content, state) or 0)
    return _next_chunk(content, {**state, "chunks": last})


def finish(api: Api, content: Content, state: State) -> Progress:
    """Send the last chunk, by which the video is posted. Raises OutcomeUnknown when nobody says whether it arrived."""
    [file] = content.media
    try:
        transfer = _transfer(content, state)
        with file.open() as opened:
            transfer.send(opened, state["chunks"])
    except NotSent as error:
        raise Transient("TikTok could not be reached.") from error
    except (NoAnswer, OwnFault) as fault:
        raise OutcomeUnknown("TikTok did not say whether it has the whole video.") from fault
    except TransferEnded:
        return _begin_anew(state)
    except OutOfStep:
        return _go_on(content, state, _known(_received(api, content, state)))
    return status.first_look(state, state["publish_id"])


def create(api: Api, content: Content, state: State) -> Progress:
    """Announce photos, which TikTok fetches and posts. Raises OutcomeUnknown when nobody says whether it does."""
    body = posts.photo_body(content, comment_disabled=state["comment_disabled"])
    try:
        publish_id = _publish_id(api.post("/v2/post/publish/content/init/", body))
    except NotSent as error:
        raise Transient("TikTok could not be reached.") from error
    except NoAnswer as error:
        raise OutcomeUnknown("TikTok did not say whether it took the photos.") from error
    except TikTokError as error:
        if error.is_passing:
            raise OutcomeUnknown(f"TikTok answered {error.status} and may have taken the photos.") from error
        raise refusal(error) from error
    return status.first_look(state, publish_id)


STEPS = {"start": start, "upload": upload, "finish": finish, "create": create, "poll": status.poll}


def find(api: Api, content: Content, state: State) -> Progress | Absent:
    """What follows when an earlier try of `finish` has posted the video; Absent when TikTok still waits for its bytes.

    Raises OutcomeUnknown for photos, whose publish id nobody has.
    """
    if "publish_id" not in state:
        raise OutcomeUnknown(
            "TikTok cannot be asked about photos whose announcement it did not answer. Look at the account: resolve the "
            "target with the post's address, or as not published, after which it can be retried.",
            final=True,
        )
    received = _known(_received(api, content, state))
    size = content.media[0].size_bytes
    if received < size:
        return Absent(AskedById(f"the upload has {received} of {size} bytes"))
    return _go_on(content, state, received)


def _announce(api: Api, content: Content, made_by: Creator) -> tuple[str, str]:
    """The publish id of a video, and where its bytes go."""
    [file] = content.media
    size, count = plan(file)
    source = {
        "source": "FILE_UPLOAD",
        "video_size": file.size_bytes,
        "chunk_size": size,
        "total_chunk_count": count,
    }
    body = {"post_info": posts.video_info(content, made_by), "source_info": source}
    answer = api.post("/v2/post/publish/video/init/", body)
    address = answer.get("upload_url")
    if not isinstance(address, str) or not is_own(address, api.address, TIKTOK):
        raise UnreadableAnswer("The answer names no place of TikTok's for the video.")
    return _publish_id(answer), address


def _publish_id(answer: Mapping[str, Any]) -> str:
    value = line(answer.get("publish_id"))
    if not value:
        raise UnreadableAnswer("The answer holds no publish id.")
    return value


def _transfer(content: Content, state: State) -> Transfer:
    address = open_address(state["address"], key=content.key)
    if address is None:
        raise TransferEnded
    return Transfer(address, content.media[0])


def _next_chunk(content: Content, state: State) -> Progress:
    _, count = plan(content.media[0])
    return Progress("upload" if state["chunks"] < count - 1 else "finish", state)


def _received(api: Api, content: Content, state: State) -> int | None:
    """How many bytes of the video TikTok has; None where it does not tell. Raises as `platform_errors`, OutcomeUnknown."""
    try:
        with platform_errors():
            standing = status.ask(api, state["publish_id"])
    except ContentRejected as fault:  # a refusal to tell says nothing of the video
        raise OutcomeUnknown(f"TikTok does not tell what became of the video: {fault.message}") from fault
    return standing.received if standing.status == "PROCESSING_UPLOAD" else content.media[0].size_bytes


def _known(received: int | None) -> int:
    if received is None:
        raise OutcomeUnknown("TikTok does not tell whether it has the whole video.")
    return received


def _go_on(content: Content, state: State, received: int) -> Progress:
    """Go on where TikTok is: a worker may have died before it could tell how far it came."""
    if received >= content.media[0].size_bytes:
        return status.first_look(state, state["publish_id"])
    chunks, odd = divmod(received, CHUNK_BYTES)
    if odd or chunks <= state["chunks"]:
        return _begin_anew(state)
    return _next_chunk(content, {**state, "chunks": chunks})


def _begin_anew(state: State) -> Progress:
    """Announce the video once more; one that TikTok never had whole is not posted."""
    return Progress("start", {"announced": state["announced"]})
