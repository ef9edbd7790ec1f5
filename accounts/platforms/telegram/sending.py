"""Sending a frozen request, once. Telegram takes no key of ours, so a message that may be out is never sent again.

Nothing was sent only where Telegram says `ok: false` itself, and not even then where it speaks of a part of an album or
of a fault of its own (500 is also its answer for a message that was sent and could not be shown).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO

from accounts.platforms.errors import ContentRejected, OutcomeUnknown, PlatformError, Transient, unmapped
from accounts.platforms.telegram.bot_api import BotApi, BotApiError, platform_error
from accounts.platforms.telegram.chats import Chat
from accounts.platforms.types import MediaFile, Published
from config.outbound import NotSent, OutboundError

EXTENSIONS = {
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "image/webp": ".webp",
    "image/gif": ".gif",
    "video/mp4": ".mp4",
    "application/pdf": ".pdf",
}
# Refusals with status 400 that are about the bot's place in the chat, whatever the post says.
_ABOUT_THE_BOT = re.compile(
    r"chat not found|not enough rights(?! to send polls)|no rights to send|administrator rights"
    r"|upgraded to a supergroup|logged out"
    r"|CHAT_\w*FORBIDDEN|CHAT_RESTRICTED|CHAT_ADMIN_REQUIRED|USER_BANNED_IN_CHANNEL|CHANNEL_PRIVATE|PEER_ID_INVALID",
    re.IGNORECASE,
)
# And those that are about the post; they quote it, so that of others only the status is told to the operator.
_ABOUT_THE_POST = re.compile(
    r"too long|too big|is empty|parse entities|not found|wrong (?:file|type|remote)|invalid|group send failed"
    r"|\bpolls?\b|POLL_|failed to get|TOPIC_|PHOTO_|IMAGE_|VIDEO_|MEDIA_|WEBPAGE_|ENTITIES_|ENTITY_|BUTTON_|REPLY_",
    re.IGNORECASE,
)
# One message of an album failed; the others may stand in the chat.
_ABOUT_A_PART = re.compile(r"failed to send message #", re.IGNORECASE)


def send(api: BotApi, chat: Chat, message: Mapping[str, Any], media: Sequence[MediaFile]) -> Published:
    """Send what messages.build has made.

    Raises Transient, RateLimited, AccountDisconnected, ContentRejected, TokenExpired when the chat has another number now
    (all: nothing was sent), and OutcomeUnknown.
    """
    sent = _deliver(api, chat, message, media)
    first = sent[0] if isinstance(sent, list) and sent else sent
    message_id = first.get("message_id") if isinstance(first, dict) else None
    if not isinstance(message_id, int) or isinstance(message_id, bool):
        raise OutcomeUnknown("Telegram took the post, but did not say which message it is.")
    if message_id == 0:  # a video that Telegram prepares first: it posts the message by itself, under an id unknown yet
        return Published("", "")
    shown_in = Chat.read(first.get("chat")) or chat
    return Published(str(message_id), shown_in.permalink(message_id))


def _deliver(api: BotApi, chat: Chat, message: Mapping[str, Any], media: Sequence[MediaFile]) -> Any:
    try:
        return _request(api, chat.id, message, media)
    except NotSent as error:
        raise platform_error(error) from error
    except OutboundError as error:
        raise OutcomeUnknown("Telegram did not say whether it took the post.") from error
    except BotApiError as error:
        if error.moved_to is not None and error.status == 400:
            raise chat.has_moved() from error
        raise _refusal(error) from error


def _request(api: BotApi, chat_id: int, message: Mapping[str, Any], media: Sequence[MediaFile]) -> Any:
    fields = {"chat_id": chat_id, **message["fields"]}
    if not message["parts"]:
        return api.call(message["method"], fields)
    with _opened(message["parts"], media) as files:
        return api.upload(message["method"], fields, files)


@contextmanager
def _opened(parts: Sequence[str], media: Sequence[MediaFile]) -> Iterator[dict[str, tuple[str, BinaryIO, str]]]:
    with ExitStack() as opened:
        try:
            files = {
                part: (_filename(part, file), opened.enter_context(file.open()), file.mime_type)
                for part, file in zip(parts, media, strict=True)
            }
        except Exception as error:  # each storage has errors of its own; nothing has been sent yet
            raise Transient("The service could not open the media of the post.") from error
        yield files


def _filename(part: str, file: MediaFile) -> str:
    """A document is shown under its name; of other files Telegram reads the type from the ending."""
    if file.kind == "document" and file.filename:
        return file.filename
    return part + EXTENSIONS.get(file.mime_type, "")


def _refusal(error: BotApiError) -> PlatformError:
    if error.status >= 500:
        return OutcomeUnknown(f"Telegram answered {error.status}, and did not say whether it took the post.")
    if _ABOUT_A_PART.search(error.description):
        return OutcomeUnknown(f"Telegram may have sent a part of the album: {error.description}")
    if error.status == 413 or (error.status == 400 and not _ABOUT_THE_BOT.search(error.description)):
        if error.status == 400 and not _ABOUT_THE_POST.search(error.description):
            unmapped("telegram", error.status)
        return ContentRejected(f"Telegram does not take this post: {error.description}")
    return platform_error(error)
