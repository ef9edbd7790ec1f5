"""A message: its form, and sending it once.

Nothing makes a webhook's message recognisable before it is sent, so an answer that does not come leaves the outcome open
for good.
"""

from __future__ import annotations

import contextlib
import json
import mimetypes
from collections.abc import Mapping
from typing import Any

from accounts.platforms.discord.webhook import (
    BUSY,
    GONE,
    LIMITS,
    SNOWFLAKE,
    TIMEOUT_SECONDS,
    UNKNOWN_CHANNEL,
    DiscordError,
    Webhook,
    execute,
    platform_error,
)
from accounts.platforms.errors import ContentRejected, OutcomeUnknown, PlatformError, Transient, unmapped
from accounts.platforms.polls import poll_of
from accounts.platforms.types import Content, MediaFile, Published
from config.outbound import NoAnswer, NotSent, multipart

FLAGS = {"suppress_embeds": 1 << 2, "suppress_notifications": 1 << 12}
SLOWEST_UPLOAD = 200_000  # bytes in a second
# A locked thread, words and links that the server's moderation stops, no uploads for this server, no polls in such channels.
BLOCKED = frozenset({160005, 200000, 200001, 240000, 400001, 520002})
# A request that is too large, an empty message, a form or JSON that does not fit; None: said by what stands before Discord.
OF_CONTENT = frozenset({None, 40005, 50006, 50035, 50109})
UNKNOWN_OUTCOME = "Discord did not say whether it took the message."


def send(hook: Webhook, guild_id: str, content: Content) -> Published:
    """Post the message. Raises platform errors; OutcomeUnknown means that it may be out."""
    params = {"thread_id": content.options["thread_id"]} if "thread_id" in content.options else {}
    try:
        answer = _post(hook, params, content)
    except NotSent as error:
        raise platform_error(error) from error
    except NoAnswer as error:
        raise OutcomeUnknown(UNKNOWN_OUTCOME, final=True) from error
    except DiscordError as error:
        if error.status >= 500:
            raise OutcomeUnknown(UNKNOWN_OUTCOME, final=True) from error
        raise _refusal(error, content) from error
    match answer:
        case {"id": str(message_id), "channel_id": str(channel_id)} if SNOWFLAKE.fullmatch(
            message_id
        ) and SNOWFLAKE.fullmatch(channel_id):
            # In a thread, `channel_id` is the thread.
            return Published(message_id, f"{channel_url(guild_id, channel_id)}/{message_id}")
    raise OutcomeUnknown(UNKNOWN_OUTCOME, final=True)


def form(content: Content) -> dict[str, Any]:
    """The message as JSON. Nobody is mentioned by it, whatever its text says."""
    body: dict[str, Any] = {"allowed_mentions": {"parse": []}}
    if poll := poll_of(content.options):
        body["poll"] = _poll(content.text, poll)
    elif content.text:
        body["content"] = content.text
    body |= {key: content.options[key] for key in ("username", "thread_name") if key in content.options}
    if flags := sum(flag for option, flag in FLAGS.items() if content.options.get(option)):
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
    """The address of a channel for people."""
    return f"https://discord.com/channels/{guild_id or '@me'}/{channel_id}"


def _post(hook: Webhook, params: dict[str, str], content: Content) -> dict[str, Any]:
    """Call the webhook; files are read while they are sent."""
    if not content.media:
        return execute(hook, params, json=form(content))
    with contextlib.ExitStack() as opened:
        try:
            files = [opened.enter_context(file.open()) for file in content.media]
        except Exception as fault:  # whatever a storage raises, nothing was sent yet
            raise Transient("The files of the post could not be read.") from fault
        parts: dict[str, Any] = {"payload_json": (None, json.dumps(form(content)), "application/json")}
        for number, (file, bytes_of_it) in enumerate(zip(content.media, files, strict=True)):
            parts[f"files[{number}]"] = (_filename(number, file), bytes_of_it, file.mime_type)
        upload = multipart(parts)
        seconds = TIMEOUT_SECONDS + upload.len / SLOWEST_UPLOAD
        return execute(hook, params, data=upload, content_type=upload.content_type, seconds=seconds)


def _attachment(number: int, file: MediaFile) -> dict[str, Any]:
    attachment = {"id": number, "filename": _filename(number, file)}
    return {**attachment, "description": file.alt_text} if file.alt_text else attachment


def _filename(number: int, file: MediaFile) -> str:
    return file.filename or f"file-{number + 1}{mimetypes.guess_extension(file.mime_type) or ''}"


def _refusal(error: DiscordError, content: Content) -> PlatformError:
    """The refusal of a message; a bad request is the content's fault unless it is about the webhook or the moment."""
    if error.code == UNKNOWN_CHANNEL and "thread_id" in content.options:
        return ContentRejected("Discord knows no thread with this thread_id in the webhook's channel.")
    known = error.code in GONE | LIMITS | BUSY
    if error.code in BLOCKED or (error.status in (400, 413) and not known):
        if error.code not in BLOCKED | OF_CONTENT:
            unmapped("discord", f"{error.status} {error.code}")
        return ContentRejected(f"Discord does not take this message: {error.reason}")
    return platform_error(error)
