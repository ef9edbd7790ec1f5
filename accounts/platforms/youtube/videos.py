"""The steps by which a video goes out, and what every answer to them means. Source: developers.google.com/youtube/v3.

The session makes the video when it has the last byte. So all pieces but the last may be sent as often as need be, and
whether an earlier try of the last one arrived is asked of the session itself. Once the video is there, only YouTube's
word that it does not show it ends the publication as failed: a retry would upload it a second time.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import PurePath
from typing import Any

from django.utils import timezone

from accounts.platforms.counting import cut, utf16_units
from accounts.platforms.errors import (
    AccountDisconnected,
    ContentRejected,
    OutcomeUnknown,
    PlatformError,
    TokenExpired,
    Transient,
)
from accounts.platforms.types import TAKEN, Absent, AskedById, Content, MediaFile, Progress, Published
from accounts.platforms.upload_addresses import open_address, seal_address
from accounts.platforms.youtube import thumbnail
from accounts.platforms.youtube.capabilities import MAX_TAGS, MAX_TITLE, PEOPLE_AND_BLOGS, PUBLIC, tags_length
from accounts.platforms.youtube.channel import permalink
from accounts.platforms.youtube.client import Api, YouTubeError, items_of, line, platform_errors, refusal
from accounts.platforms.youtube.session import PIECE_BYTES, Session, SessionEnded, Standing, open_session
from config.outbound import NoAnswer, NotSent

PIECES_A_STEP = 4
MAX_SESSIONS = 3
FIRST_LOOK_SECONDS, LONGEST_PAUSE_SECONDS = 10, 300
MAX_LOOKS = 40  # about three hours
MAX_THUMBNAIL_TRIES = 5

State = Mapping[str, Any]
# Options that stand in a video's snippet or status as they are, by YouTube's names.
SNIPPET_OPTIONS = {"tags": "tags", "language": "defaultLanguage"}
STATUS_OPTIONS = {
    "made_for_kids": "selfDeclaredMadeForKids",
    "contains_synthetic_media": "containsSyntheticMedia",
    "license": "license",
    "embeddable": "embeddable",
}


def start(api: Api, content: Content, state: State) -> Progress:
    """Check what validation cannot, and announce the video; nothing is to be seen of it yet.

    Raises as every step here: ContentRejected, TokenExpired, AccountDisconnected, ConnectionUnavailable, Transient.
    """
    _check(content)
    notify = content.options.get("notify_subscribers", True)
    with platform_errors():
        address = open_session(
            api, content.media[0], _resource(content), {"notifySubscribers": "true" if notify else "false"}
        )
    opened = {"session": seal_address(address, key=content.key), "sessions": state.get("sessions", 0) + 1}
    return _next_piece(content, opened, Standing(0))


def upload(api: Api, content: Content, state: State) -> Progress | Published:
    """Go on where the session is, with some more pieces, the last one left out."""
    [file] = content.media
    with platform_errors():
        try:
            session = _session(api, content, state)
            standing = session.standing()
            with file.open() as opened:
                for _ in range(PIECES_A_STEP):
                    if standing.video_id or _is_last(file, standing):
                        break
                    opened.seek(standing.received)
                    before = standing
                    standing = session.send(opened.read(PIECE_BYTES), before.received)
                    _check_advance(before, standing)
        except SessionEnded:
            return _begin_anew(state)
    return _next_piece(content, state, standing)


def finish(api: Api, content: Content, state: State) -> Progress | Published:
    """Send the last piece, which makes the video. Raises OutcomeUnknown when nobody says whether it arrived."""
    [file] = content.media
    with platform_errors():
        try:
            session = _session(api, content, state)
            before = session.standing()
        except SessionEnded:
            return _begin_anew(state)
    if before.video_id or not _is_last(file, before):
        return _next_piece(content, state, before)
    with file.open() as opened:
        opened.seek(before.received)
        piece = opened.read(PIECE_BYTES)
    try:
        standing = session.send(piece, before.received)
    except NotSent as error:
        raise Transient("YouTube could not be reached.") from error
    except SessionEnded:
        return _begin_anew(state)
    except NoAnswer as error:
        raise OutcomeUnknown("YouTube did not say whether it has the whole video.") from error
    except YouTubeError as error:
        if error.status >= 500:
            raise OutcomeUnknown(f"YouTube answered {error.status} and may have the whole video.") from error
        raise refusal(error) from error
    _check_advance(before, standing)
    return _next_piece(content, state, standing)


def find(api: Api, content: Content, state: State) -> Progress | Absent:
    """What follows when an earlier try of `finish` has made the video; Absent when the session still waits for bytes."""
    with platform_errors():
        try:
            standing = _session(api, content, state).standing()
        except SessionEnded as error:
            raise OutcomeUnknown(
                "YouTube no longer knows the upload. Look at the channel: resolve the target with the video's address, "
                "or as not published, after which it can be retried.",
                final=True,
            ) from error
        except YouTubeError as error:
            raise _untold(error) from error
    if standing.video_id is None:
        return Absent(AskedById(f"the upload session has {standing.received} of {content.media[0].size_bytes} bytes"))
    return _next_piece(content, state, standing)


def set_thumbnail(api: Api, content: Content, state: State) -> Progress:
    """Give the video its thumbnail. The video stays out without one, which is noted."""
    tries, note = state["tries"] + 1, ""
    try:
        with platform_errors():
            thumbnail.set_thumbnail(api, state["video"], content.options["thumbnail_url"])
    except TokenExpired:
        raise
    except PlatformError as fault:
        if isinstance(fault, Transient) and tries < MAX_THUMBNAIL_TRIES:
            return _later("thumbnail", {**state, "tries": tries}, FIRST_LOOK_SECONDS * 2**tries)
        note = f"The video has no thumbnail of its own: {fault.message}"
    return Progress("process", {**state, "looks": 0, "note": note})


def process(api: Api, content: Content, state: State) -> Progress | Published:
    """Look how far YouTube is with the video; what cannot be looked at now is looked at later.

    Raises ContentRejected when YouTube could not process it or does not let it stand, TokenExpired, AccountDisconnected.
    """
    looks = state["looks"] + 1
    try:
        with platform_errors():
            videos = items_of(api.get("/youtube/v3/videos", {"part": "status", "id": state["video"]}))
    except (TokenExpired, AccountDisconnected):
        raise
    except PlatformError:  # a refusal to tell says nothing of the video
        videos = []
    told = videos[0].get("status") if videos else None
    status = told if isinstance(told, dict) else {}
    if status.get("uploadStatus") in ("failed", "rejected", "deleted"):
        reason = line(status.get("failureReason")) or line(status.get("rejectionReason")) or "it was removed"
        raise ContentRejected(f"YouTube took the video and does not show it: {reason}")
    if status.get("uploadStatus") != "processed" and looks < MAX_LOOKS:
        pause = min(FIRST_LOOK_SECONDS * 2 ** min(looks, 10), LONGEST_PAUSE_SECONDS)
        return _later("process", {**state, "looks": looks}, pause)
    return Published(state["video"], permalink(state["video"]), note=_note(content, state, status))


STEPS = {"start": start, "upload": upload, "finish": finish, "thumbnail": set_thumbnail, "process": process}


def _check(content: Content) -> None:
    if len(content.media) != 1 or content.media[0].kind != "video":
        raise ContentRejected("YouTube takes exactly one video.")
    tags = content.options.get("tags", [])
    if tags_length(tags) > MAX_TAGS:
        raise ContentRejected(f"The tags count {tags_length(tags)} characters; YouTube takes {MAX_TAGS}.")
    if "thumbnail_url" in content.options:
        thumbnail.fetch(content.options["thumbnail_url"])


def _resource(content: Content) -> dict[str, Any]:
    """The video as the API describes one."""
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
    first_line = next(filter(None, (line(each) for each in content.text.splitlines())), "")
    return cut(first_line or PurePath(content.media[0].filename).stem or "Video", MAX_TITLE, utf16_units)


def _privacy(content: Content) -> str:
    return str(content.options.get("privacy_status", PUBLIC))


def _note(content: Content, state: State, status: Mapping[str, Any]) -> str:
    """What is missing about a video that is out."""
    notes = [state["note"]]
    if status.get("uploadStatus") != "processed":
        notes.append("YouTube has not finished processing the video.")
    if status.get("privacyStatus") == "private" != _privacy(content):
        notes.append("YouTube keeps the video private, as it does until Google has audited the operator's application.")
    return " ".join(filter(None, notes))


def _session(api: Api, content: Content, state: State) -> Session:
    address = open_address(state["session"], key=content.key)
    if address is None:
        raise SessionEnded
    return Session(api, address, content.media[0].size_bytes)


def _untold(error: YouTubeError) -> PlatformError:
    """What it means that the upload cannot be asked: a refusal to tell says nothing of the video."""
    fault = refusal(error)
    if isinstance(fault, ContentRejected):
        return OutcomeUnknown(f"YouTube does not tell whether it has the whole video: {error.words}")
    return fault


def _begin_anew(state: State) -> Progress:
    """Nothing is out: a session without its last piece leaves nothing behind. Raises Transient in the end."""
    if state["sessions"] >= MAX_SESSIONS:
        raise Transient("YouTube goes on ending the upload before it is whole.")
    return Progress("start", {"sessions": state["sessions"]})


def _is_last(file: MediaFile, standing: Standing) -> bool:
    """Whether a single piece is missing, the one that makes the video."""
    return file.size_bytes - standing.received <= PIECE_BYTES


def _check_advance(before: Standing, after: Standing) -> None:
    if after.video_id is None and after.received <= before.received:
        raise Transient("YouTube keeps nothing of what it is sent.")


def _next_piece(content: Content, state: State, standing: Standing) -> Progress:
    """The step that follows where the upload stands."""
    if standing.video_id is None:
        return Progress("finish" if _is_last(content.media[0], standing) else "upload", state)
    taken = {"video": standing.video_id, TAKEN: True}
    if "thumbnail_url" in content.options:
        return Progress("thumbnail", {**taken, "tries": 0})
    return _later("process", {**taken, "looks": 0, "note": ""}, FIRST_LOOK_SECONDS)


def _later(phase: str, state: State, seconds: float) -> Progress:
    return Progress(phase, state, ready_at=timezone.now() + timedelta(seconds=seconds))
