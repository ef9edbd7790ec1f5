"""Sending the stored request of a Telegram message, once.

Telegram has no idempotency key, so a message that may have been sent is not sent again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO

from accounts.platforms.errors import Transient
from accounts.platforms.http.responses import UnreadableAnswer, as_object
from accounts.platforms.telegram.chats import Chat
from accounts.platforms.telegram.client import ERRORS, BotApi, BotApiError
from accounts.platforms.types import MediaFile, Published

EXTENSIONS = {
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "image/webp": ".webp",
    "image/gif": ".gif",
    "video/mp4": ".mp4",
    "application/pdf": ".pdf",
}


def send(api: BotApi, chat: Chat, message: Mapping[str, Any], media: Sequence[MediaFile]) -> Published:
    """Send to Telegram a request that messages.build has built.

    Raises OutcomeUnknown, or (if nothing was sent) Transient, RateLimited, AccountDisconnected, ContentRejected, and
    TokenExpired if the chat has a new id.
    """
    with ERRORS.publish_errors("this post"):
        try:
            sent = _request(api, chat.id, message, media)
        except BotApiError as error:
            if error.moved_to is not None and error.status == 400:
                raise chat.has_moved() from error
            raise
        first = as_object(sent[0] if isinstance(sent, list) and sent else sent)
        message_id = first.get("message_id")
        if type(message_id) is not int:
            raise UnreadableAnswer("The response has no message id.")
    if message_id == 0:  # Telegram processes a video first and posts the message later, with another id
        return Published("", "")
    return Published(str(message_id), (Chat.read(first.get("chat")) or chat).permalink(message_id))


def _request(api: BotApi, chat_id: int, message: Mapping[str, Any], media: Sequence[MediaFile]) -> Any:
    fields = {"chat_id": chat_id, **message["fields"]}
    with _opened(message["parts"], media) as files:
        return api.run(message["method"], fields, files)


@contextmanager
def _opened(parts: Sequence[str], media: Sequence[MediaFile]) -> Iterator[dict[str, tuple[str, BinaryIO, str]]]:
    with ExitStack() as opened:
        try:
            files = {
                part: (_filename(part, file), opened.enter_context(file.open()), file.mime_type)
                for part, file in zip(parts, media, strict=bool(parts))
            }
        except Exception as error:  # each storage raises its own errors; nothing has been sent yet
            raise Transient("The service could not open the media of the post.") from error
        yield files


def _filename(part: str, file: MediaFile) -> str:
    """The name of a file in an upload to Telegram, which reads the type of files other than documents from the extension."""
    if file.kind == "document" and file.filename:
        return file.filename
    return part + EXTENSIONS.get(file.mime_type, "")
