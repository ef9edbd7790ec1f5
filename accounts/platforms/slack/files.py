"""A message with files: each file is uploaded, then all are shared in the channel by one call, with the text.

An upload that is not shared is discarded by Slack, so it may be repeated. Sharing posts the message. Slack shares in the
background: its answer does not name the message, which is read from the files' `shares` once they hold the channel.

An unanswered call to share is settled by asking for the first file: Slack knows a file from the time it takes the call, and
takes the call for a file once only, so that a file which is not found was not shared and can be shared again without a
second message. Sources: docs.slack.dev, files.getUploadURLExternal, files.completeUploadExternal, files.info.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.platforms.errors import ContentRejected, OutcomeUnknown, PlatformError, Transient
from accounts.platforms.slack import message
from accounts.platforms.slack.web_api import SlackError, UnreadableAnswer, WebApi, platform_error
from accounts.platforms.types import TAKEN, Absent, AskedById, Content, MediaFile, Progress, Published
from accounts.platforms.upload_addresses import is_own
from config.outbound import NoAnswer, NotSent, OutboundError, request

UPLOAD_SECONDS = 600.0
MAX_ANSWER_BYTES = 65_536
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 60.0
MAX_LOOKS = 40  # about half an hour
DOMAINS = ("slack.com", "slack-gov.com")
UNKNOWN_OUTCOME = "Slack did not say whether it took the message with its files."
# A channel that the app has not joined takes its texts (chat:write.public) and refuses its files with one of these.
NO_FILES_IN_CHANNEL = frozenset(
    {"not_in_channel", "no_permission", "posting_to_channel_denied", "invalid_channel", "channel_not_found"}
)

_FILE = re.compile(r"F[A-Z0-9]{1,30}")

Channel = Mapping[str, Any]
State = Mapping[str, Any]


def begin(content: Content) -> Progress:
    """The first step's end. Of the options only `thread_ts` concerns files; the others are for messages of text alone."""
    return Progress("upload", {"files": []})


def upload(api: WebApi, channel: Channel, content: Content, state: State) -> Progress:
    """Upload the next file. Raises ContentRejected, AccountDisconnected, Transient."""
    file = content.media[len(state["files"])]
    try:
        file_id, address = _announce(api, file)
        _send(address, file)
    except OutboundError as error:
        raise platform_error(error) from error
    except SlackError as error:
        raise _refusal(error) from error
    uploaded = [*state["files"], file_id]
    return Progress("share" if len(uploaded) == len(content.media) else "upload", {**state, "files": uploaded})


def share(api: WebApi, channel: Channel, content: Content, state: State) -> Progress:
    """Post the message with its files. Raises platform errors; OutcomeUnknown means that it may be out."""
    files = [{"id": file_id} for file_id in state["files"]]
    text = {"initial_comment": message.escaped(content.text)} if content.text.strip() else {}
    thread = {name: content.options[name] for name in ("thread_ts",) if name in content.options}
    try:
        api.post("files.completeUploadExternal", json={"files": files, "channel_id": channel["id"], **text, **thread})
    except NotSent as error:
        raise platform_error(error) from error
    except NoAnswer as error:
        raise OutcomeUnknown(UNKNOWN_OUTCOME) from error
    except SlackError as error:
        if error.maybe_done:
            raise OutcomeUnknown(UNKNOWN_OUTCOME) from error
        if error.code == "file_not_found":
            return _without_uploads(api, content, state)
        raise _refusal(error) from error
    return _taken(state)


def settle(api: WebApi, channel: Channel, content: Content, state: State) -> Progress | Published:
    """Look where Slack has shared the files. Raises OutcomeUnknown when it does not say for half an hour, Transient."""
    return _settled(channel, content, state, _look(api, state) or {})


def find(api: WebApi, channel: Channel, content: Content, state: State) -> Progress | Published | Absent:
    """What follows when an earlier try of `share` was taken; Absent when Slack does not know the files. Raises as
    `settle`."""
    file = _look(api, state)
    if file is None:
        return Absent(AskedById("file_not_found"))
    return _settled(channel, content, _taken(state).state, file)


def _announce(api: WebApi, file: MediaFile) -> tuple[str, str]:
    """The id of the file that is to come, and the address to send it to. Raises SlackError, OutboundError."""
    told = {"filename": file.filename or "file", "length": str(file.size_bytes)}
    if file.alt_text and file.kind in ("image", "gif"):
        told["alt_txt"] = file.alt_text
    answer = api.post("files.getUploadURLExternal", data=told)
    file_id, address = answer.get("file_id"), answer.get("upload_url")
    if not isinstance(file_id, str) or not _FILE.fullmatch(file_id):
        raise UnreadableAnswer("The answer names no file.")
    if not isinstance(address, str) or not any(is_own(address, api.address, domain) for domain in DOMAINS):
        raise UnreadableAnswer("The answer holds no address of Slack's to send the file to.")
    return file_id, address


def _send(address: str, file: MediaFile) -> None:
    """Send the bytes. The address alone opens the upload, so the app's token is not sent along."""
    headers = {"Content-Type": "application/octet-stream"}
    with file.open() as opened:
        answer = request(
            "POST", address, headers=headers, data=opened, timeout=UPLOAD_SECONDS, max_bytes=MAX_ANSWER_BYTES
        )
    if answer.status != 200:
        raise SlackError(answer, "")


def _without_uploads(api: WebApi, content: Content, state: State) -> Progress:
    """Slack knows no such uploads: they were discarded, and are uploaded again, once; or an earlier try has shared them.

    Raises OutcomeUnknown where there was an earlier try: its call may have used the uploads up.
    """
    if _look(api, state) is not None:
        return _taken(state)
    if content.attempt > 1:
        raise OutcomeUnknown(UNKNOWN_OUTCOME, final=True)
    if state.get("again"):
        raise Transient("Slack does not keep the files that were uploaded.")
    return Progress("upload", {"files": [], "again": True})


def _taken(state: State) -> Progress:
    return Progress("settle", {**state, TAKEN: True, "looks": 0})


def _look(api: WebApi, state: State) -> Mapping[str, Any] | None:
    """The first file as Slack tells it; None when Slack does not know it. Raises OutcomeUnknown, platform errors."""
    file_id = state["files"][0]
    try:
        told = api.get("files.info", file=file_id).get("file")
        if not isinstance(told, dict) or told.get("id") != file_id:
            raise UnreadableAnswer("The answer is not about this file.")
    except OutboundError as error:
        raise platform_error(error) from error
    except SlackError as error:
        if error.code == "file_not_found":
            return None
        if error.code in ("file_deleted", "not_visible"):
            raise OutcomeUnknown(f"Slack no longer shows the file of the message: {error.code}", final=True) from error
        raise platform_error(error) from error
    return told


def _settled(channel: Channel, content: Content, state: State, file: Mapping[str, Any]) -> Progress | Published:
    """The message, where the file names it; else another look after a while."""
    timestamp = _shared_at(file, channel)
    if timestamp:
        return message.published(channel, timestamp, content)
    if state["looks"] >= MAX_LOOKS:
        raise OutcomeUnknown("Slack took the files, but does not show them in the channel.", final=True)
    pause = min(FIRST_PAUSE_SECONDS * 2 ** min(state["looks"], 10), LONGEST_PAUSE_SECONDS)
    return Progress("settle", {**state, "looks": state["looks"] + 1}, timezone.now() + timedelta(seconds=pause))


def _shared_at(file: Mapping[str, Any], channel: Channel) -> str:
    """The timestamp of the message that shows the file in the channel; empty while there is none."""
    shares = file.get("shares")
    for by_channel in shares.values() if isinstance(shares, dict) else ():
        told = by_channel.get(channel["id"]) if isinstance(by_channel, dict) else None
        for each in told if isinstance(told, list) else ():
            if isinstance(each, dict) and message.is_timestamp(each.get("ts")):
                return str(each["ts"])
    return ""


def _refusal(error: SlackError) -> PlatformError:
    """What a refusal of a file means. What concerns files only leaves the account as it is: its texts still go out."""
    if error.code == "missing_scope":
        return ContentRejected(
            "The account was connected without the permission to upload files.",
            suggested_action="Connect the channel again and allow everything that Slack asks for, then retry the post.",
        )
    if error.code in NO_FILES_IN_CHANNEL:
        return ContentRejected(
            f"Slack takes files only in channels that the app is a member of: {error.code}",
            suggested_action="Invite the app to the channel in Slack, then retry the post.",
        )
    return platform_error(error)
