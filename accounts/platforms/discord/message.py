"""Discord messages: building the JSON body of a message, and sending it once.

A webhook cannot read the channel, so a lost answer leaves the outcome unknown for good.
"""

from __future__ import annotations

import contextlib
import json
import mimetypes
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.discord.client import ERRORS, SNOWFLAKE, UNKNOWN_CHANNEL, DiscordError, WebhookClient
from accounts.platforms.errors import ContentRejected, Transient
from accounts.platforms.http.responses import required_matching_text
from accounts.platforms.polls import poll_in_options
from accounts.platforms.types import Content, MediaFile, Published
from config.outbound import build_multipart_body

MESSAGE_FLAGS = {"suppress_embeds": 1 << 2, "suppress_notifications": 1 << 12}
SLOWEST_BYTES_PER_SECOND = 200_000


def send_message(hook: WebhookClient, guild_id: str, content: Content) -> Published:
    """Build a Discord message and send it once. Raises PlatformError, such as OutcomeUnknown if it may be published."""
    with ERRORS.translating_publish_errors(gettext_noop("this message"), final=True):
        try:
            saved = _post(hook, content)
        except DiscordError as error:
            if error.code == UNKNOWN_CHANNEL and "thread_id" in content.options:
                raise ContentRejected("The webhook's channel has no thread with this thread_id.") from error
            raise
        message_id = required_matching_text(saved, "id", SNOWFLAKE, "message id")
        channel_id = required_matching_text(
            saved, "channel_id", SNOWFLAKE, "channel id"
        )  # of the thread, if the webhook posts to one
    return Published(message_id, f"{channel_url(guild_id, channel_id)}/{message_id}")


def message_body(content: Content) -> dict[str, Any]:
    """Return the JSON body of a Discord message, which notifies nobody, even if the text contains a mention."""
    body: dict[str, Any] = {"allowed_mentions": {"parse": []}}
    if poll := poll_in_options(content.options):
        body["poll"] = _poll(content.text, poll)
    elif content.text:
        body["content"] = content.text
    body |= {key: content.options[key] for key in ("username", "thread_name") if key in content.options}
    if flags := sum(flag for option, flag in MESSAGE_FLAGS.items() if content.options.get(option)):
        body["flags"] = flags
    if content.media:
        body["attachments"] = [_attachment(number, file) for number, file in enumerate(content.media)]
    return body


def _poll(question: str, poll: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "question": {"text": question},
        "answers": [{"poll_media": {"text": choice}} for choice in poll["choices"]],
        "duration": poll["duration_minutes"] // 60,
        "allow_multiselect": poll.get("multiple", False),
    }


def channel_url(guild_id: str, channel_id: str) -> str:
    """Return the URL of a Discord channel, with which the URL of each message in the channel begins."""
    return f"https://discord.com/channels/{guild_id or '@me'}/{channel_id}"


def _post(hook: WebhookClient, content: Content) -> dict[str, Any]:
    """Send a Discord message, its JSON body and its files, to the webhook; return the message as Discord has saved it."""
    # Without `wait`, Discord answers before it has saved the message.
    params = {"wait": "true", **{key: content.options[key] for key in ("thread_id",) if key in content.options}}
    if not content.media:
        return hook.post("", params=params, json=message_body(content))
    with contextlib.ExitStack() as opened:
        try:
            files = [opened.enter_context(file.open()) for file in content.media]
        except Exception as error:  # each storage raises its own errors; nothing has been sent yet
            raise Transient(gettext_noop("The files of the post could not be read.")) from error
        parts: dict[str, Any] = {"payload_json": (None, json.dumps(message_body(content)), "application/json")}
        for number, (file, opened_file) in enumerate(zip(content.media, files, strict=True)):
            parts[f"files[{number}]"] = (_filename(number, file), opened_file, file.mime_type)
        body = build_multipart_body(parts)
        seconds = hook.timeout_seconds + body.len / SLOWEST_BYTES_PER_SECOND
        return hook.post("", params=params, data=body, headers={"Content-Type": body.content_type}, timeout=seconds)


def _attachment(number: int, file: MediaFile) -> dict[str, Any]:
    attachment = {"id": number, "filename": _filename(number, file)}
    return {**attachment, "description": file.alt_text} if file.alt_text else attachment


def _filename(number: int, file: MediaFile) -> str:
    return file.filename or f"file-{number + 1}{mimetypes.guess_extension(file.mime_type, strict=False) or ''}"
