"""Telegram messages as requests of the Bot API: each request is built and stored, and then sent once.

Telegram has no idempotency key, so a message that may have been sent is not sent again.

Source: core.telegram.org/bots/api (sendMessage, sendPhoto, sendVideo, sendAnimation, sendDocument, sendMediaGroup, sendPoll).
"""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms import polls
from accounts.platforms.errors import ContentRejected, Transient
from accounts.platforms.http.responses import UnreadableAnswer, object_or_empty
from accounts.platforms.telegram.capabilities import CAPABILITIES
from accounts.platforms.telegram.chats import Chat
from accounts.platforms.telegram.client import ERRORS, BotApi, BotApiError
from accounts.platforms.types import Content, MediaFile, MediaKind, Published

# The Bot API's name of each kind, and the method that sends one file.
_KINDS: dict[MediaKind, tuple[str, str]] = {
    "image": ("photo", "sendPhoto"),
    "video": ("video", "sendVideo"),
    "gif": ("animation", "sendAnimation"),
    "document": ("document", "sendDocument"),
}
_POLL_SWITCHES = {"multiple": "allows_multiple_answers", "anonymous": "is_anonymous"}


def build_request(content: Content) -> dict[str, Any]:
    """Build the request that sends a Telegram message: the Bot API's method, the form fields and the names of media parts.

    Raises ContentRejected for what Telegram does not accept and the capabilities cannot express.
    """
    polls.raise_if_platform_would_refuse_poll(content, CAPABILITIES, "Telegram")
    media, fields = content.media, _delivery_fields(content)
    if not media and not content.text.strip():
        raise ContentRejected(gettext_noop("There is neither text nor media."))
    if poll := polls.poll_in_options(content.options):
        return {"method": "sendPoll", "fields": {**fields, **_poll(content, poll)}, "parts": []}
    if not media:
        text = {"text": content.text, **_markup(content)}
        if not content.options.get("link_preview", True):
            text["link_preview_options"] = {"is_disabled": True}
        return {"method": "sendMessage", "fields": {**fields, **text}, "parts": []}
    caption = {"caption": content.text, **_markup(content)} if content.text else {}
    if len(media) == 1:
        part, method = _KINDS[media[0].kind]
        return {"method": method, "fields": {**fields, **caption, **_dimensions(media[0])}, "parts": [part]}
    _check_album(media)
    parts = [f"file{number}" for number in range(len(media))]
    items = [
        {"type": _KINDS[file.kind][0], "media": f"attach://{part}", **_dimensions(file)}
        for part, file in zip(parts, media, strict=True)
    ]
    items[0] |= caption  # one caption in an album is shown as the caption of all
    return {"method": "sendMediaGroup", "fields": {**fields, "media": items}, "parts": parts}


def _poll(content: Content, poll: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a Telegram message that is a poll; a chosen parse_mode also applies to the question."""
    fields = {"question": content.text, "options": [{"text": choice} for choice in poll["choices"]]}
    if "parse_mode" in content.options:
        fields["question_parse_mode"] = content.options["parse_mode"]
    if "duration_minutes" in poll:
        fields["open_period"] = poll["duration_minutes"] * 60
    return fields | {field: poll[switch] for switch, field in _POLL_SWITCHES.items() if switch in poll}


def _check_album(media: Sequence[MediaFile]) -> None:
    kinds = {file.kind for file in media}
    if "gif" in kinds:
        raise ContentRejected(
            gettext_noop("Telegram does not accept an animated GIF together with other files."),
            suggested_action=gettext_noop("Send the GIF in a post of its own, or convert it to MP4."),
        )
    if "document" in kinds and len(kinds) > 1:
        raise ContentRejected(
            gettext_noop("Telegram does not accept documents together with other kinds of files."),
            suggested_action=gettext_noop("Send the documents in a post of their own."),
        )


def _delivery_fields(content: Content) -> dict[str, Any]:
    options = content.options
    names = ("disable_notification", "protect_content", "message_thread_id")
    fields = {name: options[name] for name in names if name in options}
    if "reply_to_message_id" in options:
        fields["reply_parameters"] = {"message_id": options["reply_to_message_id"]}
    return fields


def _markup(content: Content) -> dict[str, Any]:
    return {"parse_mode": content.options["parse_mode"]} if "parse_mode" in content.options else {}


def _dimensions(file: MediaFile) -> dict[str, Any]:
    """Return the width, height and duration of a video or GIF, which a Telegram message has to state."""
    if file.kind not in ("video", "gif"):
        return {}
    seconds = None if file.duration_ms is None else round(file.duration_ms / 1000)
    dimensions = {"width": file.width, "height": file.height, "duration": seconds}
    streaming = {"supports_streaming": True} if file.kind == "video" else {}
    return {name: value for name, value in dimensions.items() if value} | streaming


def send_request(api: BotApi, chat: Chat, message: Mapping[str, Any], media: Sequence[MediaFile]) -> Published:
    """Send the Telegram message whose request `build_request` has built.

    Raises OutcomeUnknown, or (if nothing was sent) Transient, RateLimited, ReauthRequired, ContentRejected, and
    TokenExpired if the chat has a new id.
    """
    with ERRORS.translating_publish_errors(gettext_noop("this post")):
        try:
            sent = _request(api, chat.id, message, media)
        except BotApiError as error:
            if error.moved_to is not None and error.status == 400:
                raise chat.changed_id_error() from error
            raise
        first = object_or_empty(sent[0] if isinstance(sent, list) and sent else sent)
        message_id = first.get("message_id")
        if type(message_id) is not int:
            raise UnreadableAnswer("The response has no message id.")
    if message_id == 0:  # Telegram processes a video first and posts the message later, with another id
        return Published("", "")
    return Published(str(message_id), (Chat.from_bot_api_object_or_none(first.get("chat")) or chat).permalink(message_id))


def _request(api: BotApi, chat_id: int, message: Mapping[str, Any], media: Sequence[MediaFile]) -> Any:
    parts = message["parts"]
    with ExitStack() as opened:
        try:
            files = {
                part: (_filename(part, file), opened.enter_context(file.open()), file.mime_type)
                for part, file in zip(parts, media, strict=bool(parts))
            }
        except Exception as error:  # each storage raises its own errors; nothing has been sent yet
            raise Transient(gettext_noop("The service could not open the media of the post.")) from error
        return api.call_method(message["method"], {"chat_id": chat_id, **message["fields"]}, files)


def _filename(part: str, file: MediaFile) -> str:
    """Return the file name of a media file for a Telegram message, with the extension that Telegram expects."""
    if file.kind == "document" and file.filename:
        return file.filename
    return part + (mimetypes.guess_extension(file.mime_type, strict=False) or "")
