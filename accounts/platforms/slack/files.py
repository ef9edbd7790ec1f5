"""The steps that post Slack messages with files, which requires the installed app: a webhook cannot send files.

Each file is uploaded, then one call shares all of them in the channel, with the text. Slack discards an upload that is not
shared, so it may be repeated. Sharing posts the message. Slack shares in the background: its response does not identify the
message, which is read from the files' `shares` later.

After a lost answer to the sharing call, the first file is asked for: Slack has a file from the moment it accepts the call,
and accepts the call for a file only once, so that a file which is not found was not shared and can be shared again without a
second message. Sources: docs.slack.dev, files.getUploadURLExternal, files.completeUploadExternal, files.info.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from html import escape
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.errors import ContentRejected, OutcomeUnknown, PlatformError, Transient
from accounts.platforms.http.responses import UnreadableAnswer, object_or_empty, objects_in, required_matching_text
from accounts.platforms.processing import step_to_check_later_or_raise
from accounts.platforms.slack.client import ERRORS, SlackError, SlackErrorTranslator, WebApi
from accounts.platforms.slack.messages import TIMESTAMP, Channel, published_message
from accounts.platforms.types import (
    Content,
    MediaFile,
    NotPublishedProof,
    Progress,
    Published,
    State,
    UploadNotPublishedProof,
)
from accounts.platforms.upload_addresses import is_platform_upload_url
from config.outbound import request

UPLOAD_SECONDS = 600.0
MAX_UPLOAD_RESPONSE_BYTES = 65_536
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 60.0  # between checks whether the files are shared
MAX_CHECKS = 40  # about half an hour
UPLOAD_DOMAINS = ("slack.com", "slack-gov.com")
# A channel that the app has not joined accepts its texts (chat:write.public) and refuses its files with one of these.
NO_FILES_IN_CHANNEL = frozenset(
    {"not_in_channel", "no_permission", "posting_to_channel_denied", "invalid_channel", "channel_not_found"}
)

_FILE = re.compile(r"F[A-Z0-9]{1,30}")


class FileErrorTranslator(SlackErrorTranslator):
    """The translation of Slack's errors about files in a message, which do not disconnect the account.

    Messages of text alone still work.
    """

    def platform_specific_error(self, error: SlackError) -> PlatformError | None:
        """Return the PlatformError for a Slack error about a message's files; other errors are translated as usual."""
        if error.code == "missing_scope":
            return ContentRejected(
                gettext_noop("The account was connected without the permission to upload files."),
                suggested_action=gettext_noop(
                    "Connect the channel again and allow everything that Slack asks for, then retry the post."
                ),
            )
        if error.code in NO_FILES_IN_CHANNEL:
            return ContentRejected(
                f"Slack accepts files only in channels that the app is a member of: {error.code}",
                suggested_action=gettext_noop("Invite the app to the channel in Slack, then retry the post."),
            )
        return super().platform_specific_error(error)


FILE_ERRORS = FileErrorTranslator()


def upload_next_file(api: WebApi, channel: Channel, content: Content, progress: Progress) -> Progress:
    """Upload the next file of a Slack message. Raises ContentRejected, ReauthRequired, Transient."""
    state = progress.state
    file = content.media[len(state["files"])]
    with FILE_ERRORS.translating_content_call_errors(gettext_noop("this message")):
        file_id, address = _announce(api, file)
        _send(address, file)
    uploaded = [*state["files"], file_id]
    return progress.with_next_step("share" if len(uploaded) == len(content.media) else "upload", {**state, "files": uploaded})


def post_message_by_sharing_files(api: WebApi, channel: Channel, content: Content, progress: Progress) -> Progress:
    """Post a Slack message by sharing its uploaded files in the channel.

    Raises OutcomeUnknown if Slack may have posted the message.
    """
    files = [{"id": file_id} for file_id in progress.state["files"]]
    text = {"initial_comment": escape(content.text, quote=False)} if content.text.strip() else {}
    thread = {"thread_ts": content.options["thread_ts"]} if "thread_ts" in content.options else {}
    body = {"files": files, "channel_id": channel["id"], **text, **thread}
    with FILE_ERRORS.translating_publish_errors(gettext_noop("this message")):
        try:
            api.post("/files.completeUploadExternal", json=body)
        except SlackError as error:
            if error.code == "file_not_found":
                return _upload_again(api, content, progress)
            raise
    return _accepted(progress)


def check_files_appeared_as_message(
    api: WebApi, channel: Channel, content: Content, progress: Progress
) -> Progress | Published:
    """Ask Slack whether the shared files have appeared in the channel, as a message with files.

    Raises OutcomeUnknown if Slack does not show it within half an hour, Transient.
    """
    return _message(channel, content, progress, _first_file(api, progress.state) or {})


def find_or_rule_out_posted_message(
    api: WebApi, channel: Channel, content: Content, progress: Progress
) -> Progress | Published | NotPublishedProof:
    """Find the Slack message with files that an interrupted attempt may have posted, or prove that there is none."""
    file = _first_file(api, progress.state)
    if file is None:
        return NotPublishedProof(UploadNotPublishedProof("file_not_found"))
    return _message(channel, content, _accepted(progress), file)


def _announce(api: WebApi, file: MediaFile) -> tuple[str, str]:
    """Announce one file of a Slack message before its upload; return the file's id and the upload URL from Slack.

    Raises SlackError, OutboundError.
    """
    details = {"filename": file.filename or "file", "length": str(file.size_bytes)}
    if file.alt_text and file.kind in ("image", "gif"):
        details["alt_txt"] = file.alt_text
    announced = api.post("/files.getUploadURLExternal", data=details)
    address = announced.get("upload_url")
    if not isinstance(address, str) or not any(
        is_platform_upload_url(address, api.address, domain) for domain in UPLOAD_DOMAINS
    ):
        raise UnreadableAnswer("The response has no upload address at Slack.")
    return required_matching_text(announced, "file_id", _FILE, "file id"), address


def _send(address: str, file: MediaFile) -> None:
    """Upload an announced file of a Slack message to the URL that Slack issued, without sending the app's token."""
    headers = {"Content-Type": "application/octet-stream"}
    with file.open() as opened:
        response = request(
            "POST", address, headers=headers, data=opened, timeout=UPLOAD_SECONDS, max_bytes=MAX_UPLOAD_RESPONSE_BYTES
        )
    if response.status != 200:
        raise SlackError(response)


def _upload_again(api: WebApi, content: Content, progress: Progress) -> Progress:
    """Return the publishing step that uploads a Slack message's files once more, because Slack did not find them.

    Raises OutcomeUnknown if there was an earlier attempt: its call may have used the uploads.
    """
    if _first_file(api, progress.state) is not None:
        return _accepted(progress)
    if content.attempt > 1:
        raise OutcomeUnknown(gettext_noop("Slack did not say whether it published this message."), final=True)
    if progress.state.get("again"):
        raise Transient(gettext_noop("Slack does not store the files that were uploaded."))
    return progress.with_next_step("upload", {"files": [], "again": True})


def _accepted(progress: Progress) -> Progress:
    return replace(progress, accepted=True).with_next_step("settle", {**progress.state, "looks": 0})


def _first_file(api: WebApi, state: State) -> Mapping[str, Any] | None:
    """Ask Slack for the description of a message's first file; None if Slack does not have the file.

    Raises OutcomeUnknown.
    """
    file_id = state["files"][0]
    with ERRORS.translating_repeatable_call_errors():
        try:
            file = object_or_empty(api.get("/files.info", {"file": file_id}).get("file"))
        except SlackError as error:
            if error.code == "file_not_found":
                return None
            if error.code in ("file_deleted", "not_visible"):
                reason = f"Slack no longer shows the file of the message: {error.code}"
                raise OutcomeUnknown(reason, final=True) from error
            raise
        if file.get("id") != file_id:
            raise UnreadableAnswer("The response is not about this file.")
        return file


def _message(channel: Channel, content: Content, progress: Progress, file: Mapping[str, Any]) -> Progress | Published:
    """Return the published message if Slack shows its file in the channel; otherwise, the step that looks for it later."""
    if timestamp := _shared_at(file, channel):
        return published_message(channel, timestamp, content)
    return step_to_check_later_or_raise(
        progress,
        "settle",
        progress.state,
        first=FIRST_PAUSE_SECONDS,
        longest=LONGEST_PAUSE_SECONDS,
        max_checks=MAX_CHECKS,
        timeout=OutcomeUnknown(gettext_noop("Slack accepted the files, but does not show them in the channel."), final=True),
    )


def _shared_at(file: Mapping[str, Any], channel: Channel) -> str:
    """Return the timestamp of the message that shares a file in the Slack channel; empty if there is none."""
    for by_channel in object_or_empty(file.get("shares")).values():
        for each in objects_in(object_or_empty(by_channel).get(channel["id"])):
            timestamp = each.get("ts")
            if isinstance(timestamp, str) and TIMESTAMP.fullmatch(timestamp):
                return timestamp
    return ""
