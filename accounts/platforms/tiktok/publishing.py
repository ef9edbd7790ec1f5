"""The steps of publishing at TikTok. Source: developers.tiktok.com, content posting and media transfer guide.

An announced video gets a publish id, and nothing is visible before TikTok has the last byte. So the announcement may be
repeated, and TikTok says by the id how many bytes it has. TikTok fetches photos itself: the call that announces them also
publishes them, and without its response nobody has the id.

A video is sent in chunks, in order, to a URL that is valid for an hour. A chunk has between five and 64 million bytes, and
the last one includes the rest; a video of less than two chunks is sent as one. The URL needs no token, so none is sent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, BinaryIO

from django.utils.translation import gettext_noop

from accounts.platforms.errors import ContentRejected, OutcomeUnknown, PlatformError, RateLimited, Transient
from accounts.platforms.http.client import JsonClient
from accounts.platforms.http.errors import ErrorTranslator, PlatformHttpError
from accounts.platforms.http.responses import UnreadableAnswer, required_matching_text
from accounts.platforms.tiktok import posts, status
from accounts.platforms.tiktok.client import ERRORS, MINUTE_SECONDS, Api
from accounts.platforms.types import Content, MediaFile, NotPublishedProof, Progress, State, UploadNotPublishedProof
from accounts.platforms.upload_addresses import decrypt_upload_url_or_none, encrypt_upload_url, is_platform_upload_url

CHUNKS_PER_STEP = 4
CHUNK_BYTES = 10_000_000
CHUNK_SECONDS = 300.0
OUT_OF_ORDER_STATUS, ENDED_UPLOAD_STATUSES = 416, (403, 404, 410)
UPLOAD_DOMAIN = "tiktokapis.com"
_PUBLISH_ID = re.compile(r"[\x21-\x7e]{1,128}")


class UploadUrlUnusable(Exception):
    """Raised if TikTok accepts no more parts of the video at the upload URL, for example because the URL has expired."""


class ChunkOutOfOrder(Exception):
    """Raised if TikTok expects another chunk of the video than the one that was sent."""


class ChunkUploadErrorTranslator(ErrorTranslator[PlatformHttpError]):
    """The translation of TikTok's errors in the publishing steps that upload a chunk (part) of a video."""

    name = "tiktok"
    label = "TikTok"
    error = PlatformHttpError

    def platform_specific_error(self, error: PlatformHttpError) -> PlatformError | None:
        """Return the PlatformError for TikTok's status 429 (rate limit) or 401 after a chunk was uploaded; otherwise None.

        A 401 is not about the access token, because none was sent.
        """
        if error.status == 429:
            return RateLimited(
                gettext_noop("TikTok's rate limit is reached."), retry_after=error.retry_after or MINUTE_SECONDS
            )
        return self.transient_error(error) if error.status == 401 else None

    def means_content_rejected(self, error: PlatformHttpError) -> bool:
        """Return whether TikTok's error means that it refuses the bytes of a video's chunk."""
        return error.status in (400, 413, 415)


CHUNK_UPLOAD_ERRORS = ChunkUploadErrorTranslator()


def check_creator_and_announce_video(api: Api, content: Content, progress: Progress) -> Progress:
    """Begin to publish a TikTok post: check what the creator may post, and announce the video if there is one.

    Raises as every step here: ContentRejected, TokenExpired, ReauthRequired, ConnectionUnavailable, Transient.
    """
    announced = progress.state.get("announced", 0)
    if announced >= status.MAX_ANNOUNCEMENTS:
        raise Transient(gettext_noop("TikTok repeatedly ends the upload before it is complete."))
    with ERRORS.translating_content_call_errors(gettext_noop("this post")):
        creator = posts.fetch_creator_limits(api)
        posts.check_creator_limits(content, creator)
        following = {"username": creator.username, "announced": announced + 1}
        if not posts.is_video_not_photos_or_raise(content):
            return progress.with_next_step("create", {**following, "comment_disabled": creator.comment_disabled})
        publish_id, address = _announce(api, content, creator)
    sealed = encrypt_upload_url(address, key=content.key)
    return _next_chunk(content, progress, {**following, "publish_id": publish_id, "address": sealed, "chunks": 0})


def upload_parts_before_last(api: Api, content: Content, progress: Progress) -> Progress:
    """Upload the next parts of a video to TikTok, except for the last part, which would publish the video."""
    [file], state = content.media, progress.state
    _, count = _chunks_of(file)
    first = state["chunks"]
    last = min(first + CHUNKS_PER_STEP, count - 1)
    try:
        address = _upload_address(content, state)
        with CHUNK_UPLOAD_ERRORS.translating_content_call_errors(gettext_noop("the video")), file.open() as opened:
            for index in range(first, last):
                _send_chunk(address, file, opened, index)
    except UploadUrlUnusable:
        return _start_again(progress)
    except ChunkOutOfOrder:
        return _continue_at(content, progress, _received(api, content, state) or 0)
    return _next_chunk(content, progress, {**state, "chunks": last})


def upload_last_part_and_publish(api: Api, content: Content, progress: Progress) -> Progress:
    """Upload the last part of a video to TikTok, which then publishes the video.

    Raises OutcomeUnknown if the part may have arrived.
    """
    [file], state = content.media, progress.state
    try:
        address = _upload_address(content, state)
        with CHUNK_UPLOAD_ERRORS.translating_publish_errors(gettext_noop("the video")), file.open() as opened:
            _send_chunk(address, file, opened, state["chunks"])
    except UploadUrlUnusable:
        return _start_again(progress)
    except ChunkOutOfOrder:
        return _continue_at(content, progress, _required(_received(api, content, state)))
    return status.first_status_check_step(progress, state["publish_id"])


def publish_photos(api: Api, content: Content, progress: Progress) -> Progress:
    """Ask TikTok to fetch photos by their URLs and publish them. Raises OutcomeUnknown if TikTok's response is unclear."""
    body = posts.photo_post_request_body(content, comment_disabled=progress.state["comment_disabled"])
    with ERRORS.translating_publish_errors(gettext_noop("the photos")):
        publish_id = _publish_id(api.post("/v2/post/publish/content/init/", json=body))
    return status.first_status_check_step(progress, publish_id)


STEPS = {
    "start": check_creator_and_announce_video,
    "upload": upload_parts_before_last,
    "finish": upload_last_part_and_publish,
    "create": publish_photos,
    "poll": status.check_publishing_status,
}


def find_or_rule_out_uploaded_video(api: Api, content: Content, progress: Progress) -> Progress | NotPublishedProof:
    """Continue a TikTok post if an interrupted attempt uploaded the whole video; else return the proof that it did not.

    Raises OutcomeUnknown for photos, whose publish id nobody has.
    """
    if "publish_id" not in progress.state:
        raise OutcomeUnknown(
            gettext_noop(
                "TikTok cannot be asked about photos whose announcement it did not answer. Look at the account: resolve the "
                "target with the post's address, or as not published, after which it can be retried."
            ),
            final=True,
        )
    received = _required(_received(api, content, progress.state))
    size = content.media[0].size_bytes
    if received < size:
        return NotPublishedProof(UploadNotPublishedProof(f"the upload has {received} of {size} bytes"))
    return _continue_at(content, progress, received)


def _announce(api: Api, content: Content, creator: posts.CreatorLimits) -> tuple[str, str]:
    """Announce a video to TikTok, the first step of publishing. Returns TikTok's publish id and the upload URL."""
    [file] = content.media
    size, count = _chunks_of(file)
    source = {"source": "FILE_UPLOAD", "video_size": file.size_bytes, "chunk_size": size, "total_chunk_count": count}
    body = {"post_info": posts.video_post_info(content, creator), "source_info": source}
    answer = api.post("/v2/post/publish/video/init/", json=body)
    address = answer.get("upload_url")
    if not isinstance(address, str) or not is_platform_upload_url(address, api.address, UPLOAD_DOMAIN):
        raise UnreadableAnswer("The response names no upload address at TikTok.")
    return _publish_id(answer), address


def _publish_id(answer: Mapping[str, Any]) -> str:
    return required_matching_text(answer, "publish_id", _PUBLISH_ID, "publish id")


def _upload_address(content: Content, state: State) -> str:
    address = decrypt_upload_url_or_none(state["address"], key=content.key)
    if address is None:
        raise UploadUrlUnusable
    return address


def _send_chunk(address: str, file: MediaFile, opened: BinaryIO, index: int) -> None:
    """Upload one chunk of a video's file to TikTok.

    Raises UploadUrlUnusable, ChunkOutOfOrder, PlatformHttpError, NotSent, SentWithoutAnswer.
    """
    size, count = _chunks_of(file)
    start, end = index * size, file.size_bytes if index == count - 1 else (index + 1) * size
    opened.seek(start)
    headers = {"Content-Type": file.mime_type, "Content-Range": f"bytes {start}-{end - 1}/{file.size_bytes}"}
    chunk = opened.read(end - start)
    try:
        JsonClient("").send_to_url("PUT", address, data=chunk, headers=headers, timeout=CHUNK_SECONDS)
    except PlatformHttpError as error:
        if error.status in ENDED_UPLOAD_STATUSES:
            raise UploadUrlUnusable from error
        if error.status == OUT_OF_ORDER_STATUS:
            raise ChunkOutOfOrder from error
        raise


def _chunks_of(file: MediaFile) -> tuple[int, int]:
    """Return the size and the number of the chunks in which a video is uploaded to TikTok."""
    if file.size_bytes < 2 * CHUNK_BYTES:
        return file.size_bytes, 1
    return CHUNK_BYTES, file.size_bytes // CHUNK_BYTES


def _next_chunk(content: Content, progress: Progress, state: State) -> Progress:
    _, count = _chunks_of(content.media[0])
    return progress.with_next_step("upload" if state["chunks"] < count - 1 else "finish", state)


def _received(api: Api, content: Content, state: State) -> int | None:
    """Ask how many bytes of the video TikTok has, to continue publishing it; return None if TikTok does not say.

    Raises OutcomeUnknown if TikTok refuses to answer, otherwise as every step.
    """
    try:
        with ERRORS.translating_content_call_errors(gettext_noop("the question")):
            current = status.fetch_post_status(api, state["publish_id"])
    except ContentRejected as error:
        raise OutcomeUnknown(f"TikTok does not say what became of the video: {error.message}") from error
    return current.received if current.name == "PROCESSING_UPLOAD" else content.media[0].size_bytes


def _required(received: int | None) -> int:
    if received is None:
        raise OutcomeUnknown(gettext_noop("TikTok does not say whether it has the whole video."))
    return received


def _continue_at(content: Content, progress: Progress, received: int) -> Progress:
    """Return the publishing step that uploads the parts of a video that TikTok has not received yet.

    If TikTok has only half of a chunk, the upload starts again.
    """
    state = progress.state
    if received >= content.media[0].size_bytes:
        return status.first_status_check_step(progress, state["publish_id"])
    chunks, odd = divmod(received, CHUNK_BYTES)
    if odd or chunks <= state["chunks"]:
        return _start_again(progress)
    return _next_chunk(content, progress, {**state, "chunks": chunks})


def _start_again(progress: Progress) -> Progress:
    """Return the publishing step that starts a TikTok video's upload again, after one that cannot be continued."""
    return progress.with_next_step("start", {"announced": progress.state["announced"]})
