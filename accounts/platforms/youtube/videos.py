"""The steps that publish a YouTube video. Source: developers.google.com/youtube/v3.

The session creates the video when it has received the last byte. So all other pieces may be sent again, and the session can
say whether the last one arrived. Once the video exists, the publication fails only if YouTube says that it does not show
the video, because a retry would upload it a second time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.counting import cut_to_limit, utf16_length
from accounts.platforms.errors import (
    ContentRejected,
    OutcomeUnknown,
    PlatformError,
    ReauthRequired,
    TokenExpired,
    Transient,
)
from accounts.platforms.http.responses import line_without_tokens, object_or_empty
from accounts.platforms.processing import step_after_pause, step_to_check_later
from accounts.platforms.types import (
    Content,
    MediaFile,
    NotPublishedProof,
    Progress,
    Published,
    State,
    UploadNotPublishedProof,
)
from accounts.platforms.upload_addresses import decrypt_upload_url_or_none, encrypt_upload_url
from accounts.platforms.youtube.capabilities import MAX_TAGS, MAX_TITLE, PEOPLE_AND_BLOGS, PUBLIC_PRIVACY, tags_length
from accounts.platforms.youtube.client import ERRORS, SITE, Api, YouTubeError, items_of
from accounts.platforms.youtube.thumbnails import fetch_thumbnail_and_mime_type, upload_thumbnail_from_url
from accounts.platforms.youtube.upload_sessions import (
    PIECE_BYTES,
    UploadProgress,
    UploadSession,
    UploadSessionExpired,
    open_session_and_return_url,
)

PIECES_PER_STEP = 4
MAX_SESSIONS = 3
FIRST_PAUSE_SECONDS, SECOND_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 10, 20, 300
MAX_CHECKS = 40  # about three hours
MAX_THUMBNAIL_TRIES = 5
VIDEO_IN_ERROR_MESSAGES = gettext_noop("this video")

# Options that are fields of a video's snippet or status, with YouTube's names.
SNIPPET_OPTIONS = {"tags": "tags", "language": "defaultLanguage"}
STATUS_OPTIONS = {
    "made_for_kids": "selfDeclaredMadeForKids",
    "contains_synthetic_media": "containsSyntheticMedia",
    "license": "license",
    "embeddable": "embeddable",
}


def check_and_open_upload_session(api: Api, content: Content, progress: Progress) -> Progress:
    """Run the first step of publishing a YouTube video: check the post, and open an upload session for the file.

    Raises as every step here: ContentRejected, TokenExpired, ReauthRequired, ConnectionUnavailable, Transient.
    """
    _check(content)
    notify = "true" if content.options.get("notify_subscribers", True) else "false"
    with ERRORS.translating_content_call_errors(VIDEO_IN_ERROR_MESSAGES):
        address = open_session_and_return_url(api, content.media[0], _resource(content), {"notifySubscribers": notify})
    opened = {"session": encrypt_upload_url(address, key=content.key), "sessions": progress.state.get("sessions", 0) + 1}
    return _next_step(content, progress, opened, UploadProgress(0))


def upload_pieces_before_last(api: Api, content: Content, progress: Progress) -> Progress:
    """Run the publishing step that uploads a YouTube video's next pieces, but not the last, which would create the video."""
    [file] = content.media
    with ERRORS.translating_content_call_errors(VIDEO_IN_ERROR_MESSAGES):
        try:
            session = _session(api, content, progress.state)
            uploaded = session.query_progress()
            with file.open() as opened:
                for _ in range(PIECES_PER_STEP):
                    if uploaded.video_id or _is_last_piece(file, uploaded):
                        break
                    opened.seek(uploaded.received)
                    before = uploaded
                    uploaded = session.upload_piece(opened.read(PIECE_BYTES), before.received)
                    _check_advance(before, uploaded)
        except UploadSessionExpired:
            return _start_again(progress)
    return _next_step(content, progress, progress.state, uploaded)


def upload_last_piece_and_publish(api: Api, content: Content, progress: Progress) -> Progress:
    """Run the publishing step that uploads the last piece of a YouTube video, with which YouTube creates the video.

    Raises OutcomeUnknown if the piece may have arrived.
    """
    [file] = content.media
    try:
        with ERRORS.translating_content_call_errors(VIDEO_IN_ERROR_MESSAGES):
            session = _session(api, content, progress.state)
            before = session.query_progress()
        if before.video_id or not _is_last_piece(file, before):
            return _next_step(content, progress, progress.state, before)
        with file.open() as opened:
            opened.seek(before.received)
            piece = opened.read(PIECE_BYTES)
        with ERRORS.translating_publish_errors(VIDEO_IN_ERROR_MESSAGES):
            after = session.upload_piece(piece, before.received)
    except UploadSessionExpired:
        return _start_again(progress)
    _check_advance(before, after)
    return _next_step(content, progress, progress.state, after)


def find_or_rule_out_uploaded_video(api: Api, content: Content, progress: Progress) -> Progress | NotPublishedProof:
    """Find out whether an interrupted step has created the YouTube video: return the next step, or a proof that it has not.

    Raises OutcomeUnknown if YouTube no longer knows the upload or refuses to describe it, TokenExpired, ReauthRequired,
    ConnectionUnavailable, Transient.
    """
    with ERRORS.translating_repeatable_call_errors():
        try:
            uploaded = _session(api, content, progress.state).query_progress()
        except UploadSessionExpired as error:
            raise OutcomeUnknown(
                gettext_noop(
                    "YouTube no longer knows the upload. Look at the channel: resolve the target with the video's address, "
                    "or as not published, after which it can be retried."
                ),
                final=True,
            ) from error
        except YouTubeError as error:
            refusal = ERRORS.translate_content_call_error(error, VIDEO_IN_ERROR_MESSAGES)
            if isinstance(refusal, ContentRejected):  # the session's status was refused, not the video
                refusal = OutcomeUnknown(f"YouTube does not say whether it has the whole video: {error.reason}")
            raise refusal from error
    if uploaded.video_id is None:
        return NotPublishedProof(
            UploadNotPublishedProof(f"the upload session has {uploaded.received} of {content.media[0].size_bytes} bytes")
        )
    return _next_step(content, progress, progress.state, uploaded)


def set_thumbnail(api: Api, content: Content, progress: Progress) -> Progress:
    """Run the publishing step that sets the thumbnail of an uploaded YouTube video; return the next step.

    If this fails, the video stays published, with a note about the failure.
    """
    state, note = progress.state, ""
    tries = state["tries"] + 1
    try:
        with ERRORS.translating_content_call_errors(gettext_noop("this thumbnail")):
            upload_thumbnail_from_url(api, state["video"], content.options["thumbnail_url"])
    except TokenExpired:
        raise
    except PlatformError as error:
        if isinstance(error, Transient) and tries < MAX_THUMBNAIL_TRIES:
            return step_after_pause(progress, "thumbnail", {**state, "tries": tries}, FIRST_PAUSE_SECONDS * 2**tries)
        note = f"The video has no thumbnail of its own: {error.message}"
    return progress.with_next_step("process", {**state, "looks": 0, "note": note})


def check_processing(api: Api, content: Content, progress: Progress) -> Progress | Published:
    """Ask whether YouTube has processed the video; after MAX_CHECKS, return it as published, with a note.

    Raises ContentRejected if YouTube could not process the video or removed it, TokenExpired, ReauthRequired.
    """
    state = progress.state
    try:
        with ERRORS.translating_repeatable_call_errors():
            videos = items_of(api.get("/youtube/v3/videos", {"part": "status", "id": state["video"]}))
    except (TokenExpired, ReauthRequired):
        raise
    except PlatformError:  # the error says nothing about the video
        videos = []
    status = object_or_empty(videos[0].get("status")) if videos else {}
    if status.get("uploadStatus") in ("failed", "rejected", "deleted"):
        reason = (
            line_without_tokens(status.get("failureReason"))
            or line_without_tokens(status.get("rejectionReason"))
            or gettext_noop("it was removed")
        )
        raise ContentRejected(f"YouTube received the video and does not show it: {reason}")
    if status.get("uploadStatus") != "processed" and state["looks"] + 1 < MAX_CHECKS:
        return step_to_check_later(progress, "process", state, first=SECOND_PAUSE_SECONDS, longest=LONGEST_PAUSE_SECONDS)
    return Published(state["video"], f"{SITE}/watch?v={state['video']}", note=_note(content, state, status))


STEPS = {
    "start": check_and_open_upload_session,
    "upload": upload_pieces_before_last,
    "finish": upload_last_piece_and_publish,
    "thumbnail": set_thumbnail,
    "process": check_processing,
}


def _check(content: Content) -> None:
    if len(content.media) != 1 or content.media[0].kind != "video":
        raise ContentRejected(gettext_noop("YouTube accepts exactly one video."))
    length = tags_length(content.options.get("tags", []))
    if length > MAX_TAGS:
        raise ContentRejected(f"The tags count {length} characters; YouTube accepts {MAX_TAGS}.")
    if "thumbnail_url" in content.options:
        fetch_thumbnail_and_mime_type(content.options["thumbnail_url"])


def _resource(content: Content) -> dict[str, Any]:
    """Return the JSON description of a video (snippet and status) for YouTube's API."""
    options = content.options
    snippet = {
        "title": options.get("title") or _title(content),
        "description": content.text,
        "categoryId": options.get("category_id", PEOPLE_AND_BLOGS),
    }
    snippet |= {theirs: options[ours] for ours, theirs in SNIPPET_OPTIONS.items() if ours in options}
    status = {"privacyStatus": _privacy(content)}
    status |= {theirs: options[ours] for ours, theirs in STATUS_OPTIONS.items() if ours in options}
    return {"snippet": snippet, "status": status}


def _title(content: Content) -> str:
    lines = ("".join(char if char.isprintable() else " " for char in line) for line in content.text.splitlines())
    first_line = next(filter(None, map(str.strip, lines)), "")
    return cut_to_limit(first_line or PurePath(content.media[0].filename).stem or "Video", MAX_TITLE, utf16_length)


def _privacy(content: Content) -> str:
    return str(content.options.get("privacy_status", PUBLIC_PRIVACY))


def _note(content: Content, state: State, status: Mapping[str, Any]) -> str:
    """Return a note for the owner about how a published YouTube video differs from the post, such as in visibility."""
    notes = [state["note"]]
    if status.get("uploadStatus") != "processed":
        notes.append(gettext_noop("YouTube has not finished processing the video."))
    if status.get("privacyStatus") == "private" != _privacy(content):
        notes.append(
            gettext_noop("YouTube keeps the video private, as it does until Google has audited the operator's application.")
        )
    return " ".join(filter(None, notes))


def _session(api: Api, content: Content, state: State) -> UploadSession:
    address = decrypt_upload_url_or_none(state["session"], key=content.key)
    if address is None:
        raise UploadSessionExpired
    return UploadSession(api, address, content.media[0].size_bytes)


def _start_again(progress: Progress) -> Progress:
    """Return the first step of publishing a YouTube video, to upload the video again in a new upload session.

    Raises Transient after MAX_SESSIONS. A session without its last piece leaves nothing behind.
    """
    if progress.state["sessions"] >= MAX_SESSIONS:
        raise Transient(gettext_noop("YouTube repeatedly ends the upload before it is complete."))
    return progress.with_next_step("start", {"sessions": progress.state["sessions"]})


def _is_last_piece(file: MediaFile, uploaded: UploadProgress) -> bool:
    """Return whether the next publishing step uploads the last piece of a YouTube video, which creates the video."""
    return file.size_bytes - uploaded.received <= PIECE_BYTES


def _check_advance(before: UploadProgress, after: UploadProgress) -> None:
    if after.video_id is None and after.received <= before.received:
        raise Transient(gettext_noop("YouTube keeps nothing of what it is sent."))


def _next_step(content: Content, progress: Progress, state: State, uploaded: UploadProgress) -> Progress:
    """Return the step that continues publishing a YouTube video: upload more, set the thumbnail, or check processing."""
    if uploaded.video_id is None:
        return progress.with_next_step("finish" if _is_last_piece(content.media[0], uploaded) else "upload", state)
    accepted, created = replace(progress, accepted=True), {"video": uploaded.video_id}
    if "thumbnail_url" in content.options:
        return accepted.with_next_step("thumbnail", {**created, "tries": 0})
    return step_after_pause(accepted, "process", {**created, "looks": 0, "note": ""}, FIRST_PAUSE_SECONDS)
