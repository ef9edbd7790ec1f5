"""The methods of the Telegram stand-in: their arguments, checks and results.

Not thread-safe: the caller holds the stand-in's lock. Source: core.telegram.org/bots/api; the order of the checks
(arguments, files, chat, message replied to, topic, rights, length) and their words are those of its server.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from PIL import Image, UnidentifiedImageError

from tests.fakes import telegram_markup
from tests.fakes.telegram_chats import Bot, Chat, Directory, Refusal, SentFile, SentMessage, bad_request
from tests.fakes.telegram_polls import check_poll, read_poll, shown_poll
from tests.fakes.telegram_requests import Arguments

MAX_TEXT = 4096
MAX_CAPTION = 1024
MAX_PHOTO_BYTES = 10 * 1024 * 1024
MAX_PHOTO_SIDES = 10_000
MAX_PHOTO_RATIO = 20
MAX_ALBUM = 10
# What the refusal calls a kind, when the bot may not send it.
KINDS = {
    "text": "text messages",
    "photo": "photos",
    "video": "videos",
    "animation": "animations",
    "document": "documents",
    "poll": "polls",
}
CAPTIONED = ("photo", "video", "animation", "document")


@dataclass(frozen=True)
class Draft:
    """A Telegram message to be sent."""

    kind: str
    marked: telegram_markup.Marked
    file: SentFile | None = None
    item: Mapping[str, Any] | None = None


class TelegramMethods:
    """The Bot API's methods, in memory, named as in the documentation."""

    def __init__(self) -> None:
        self.directory = Directory()
        self.topics: set[tuple[int, int]] = set()  # (chat, message_thread_id)
        self._albums = count(13_000_000_000_000_001)
        self.endpoints: dict[str, Callable[[Bot, Arguments], object]] = {
            "getMe": lambda bot, _: {**bot.shown(), "can_join_groups": True, "supports_inline_queries": False},
            "getChat": self._get_chat,
            "getChatMember": self._get_chat_member,
            "sendMessage": self._send_message,
            "sendMediaGroup": self._send_media_group,
            "sendPoll": self._send_poll,
            **{f"send{kind.title()}": self._sender(kind) for kind in CAPTIONED},
        }

    def perform(self, token: str, method: str, given: Callable[[], Arguments]) -> object:
        """The result of a Bot API call, after checking the token. Raises Refusal."""
        bot = self.directory.bot_of(token)
        if method not in self.endpoints:
            raise Refusal(404, "Not Found: method not found")
        return self.endpoints[method](bot, given())

    def _get_chat(self, bot: Bot, given: Arguments) -> dict[str, Any]:
        chat = self.directory.find(given.text("chat_id"))
        chat.check_readable(bot)
        permissions = {} if chat.type == "channel" else {"permissions": {"can_send_messages": chat.members_may_send}}
        return {**chat.shown(), "accent_color_id": 0, "max_reaction_count": 11, **permissions}

    def _get_chat_member(self, bot: Bot, given: Arguments) -> dict[str, Any]:
        chat = self.directory.find(given.text("chat_id"))
        chat.check_active()
        chat.check_readable(bot)
        if given.number("user_id") != bot.id:
            raise bad_request("PARTICIPANT_ID_INVALID")
        member = chat.member(bot)
        if chat.type == "channel" and member["status"] != "administrator":
            raise bad_request("member list is inaccessible")
        return {"user": bot.shown(), **member}

    def _send_message(self, bot: Bot, given: Arguments) -> dict[str, Any]:
        if not given.text("text"):
            raise bad_request("message text is empty")
        marked = _marked(given.text("text"), given.text("parse_mode"))
        return self._post(bot, given, [Draft("text", marked)])[0]

    def _send_poll(self, bot: Bot, given: Arguments) -> dict[str, Any]:
        poll = read_poll(given)
        return self._post(
            bot, given, [Draft("poll", _marked(poll["question"], given.text("question_parse_mode")), item=poll)]
        )[0]

    def _sender(self, kind: str) -> Callable[[Bot, Arguments], dict[str, Any]]:
        def send(bot: Bot, given: Arguments) -> dict[str, Any]:
            file = given.file(given.text(kind), kind)
            if file is None:
                raise bad_request(f"there is no {kind} in the request")
            marked = _marked(given.text("caption"), given.text("parse_mode"))
            said: dict[str, Any] = {
                name: given.texts[name] for name in ("width", "height", "duration") if name in given.texts
            }
            return self._post(bot, given, [Draft(kind, marked, file, said)])[0]

        return send

    def _send_media_group(self, bot: Bot, given: Arguments) -> list[dict[str, Any]]:
        items = given.value("media", "media") or []
        if not isinstance(items, list):
            raise bad_request("expected an Array of InputMedia")
        drafts = [_album_item(item, given) for item in items]
        return self._post(bot, given, drafts, album=True)

    def _post(self, bot: Bot, given: Arguments, drafts: list[Draft], *, album: bool = False) -> list[dict[str, Any]]:
        for draft in drafts:
            _check_file(draft)
        chat = self.directory.find(given.text("chat_id"))
        chat.check_active()
        options = self._options(chat, given)
        for draft in drafts:
            chat.check_writable(bot, KINDS[draft.kind])
            _check_length(draft)
            if draft.kind == "poll":
                check_poll(draft.item or {}, len(draft.marked.text), chat)
        if album:
            _check_album(drafts)
        group_id = str(next(self._albums)) if len(drafts) > 1 else ""
        return [self._store(chat, draft, options, group_id) for draft in drafts]

    def _options(self, chat: Chat, given: Arguments) -> dict[str, Any]:
        """The fields that a call sets for the whole message. Raises Refusal for a missing message or topic."""
        reply = given.value("reply_parameters", "reply parameters") or {}
        if reply and reply.get("message_id") not in [sent.message_id for sent in chat.messages]:
            raise bad_request("message to be replied not found")
        thread = given.number("message_thread_id")
        if thread and (chat.id, thread) not in self.topics:
            raise bad_request("message thread not found")
        keyboard = (given.value("reply_markup", "reply keyboard markup") or {}).get("inline_keyboard", [])
        _check_keyboard(keyboard)
        preview = given.value("link_preview_options", "link preview options") or {}
        return {
            "silent": given.flag("disable_notification"),
            "protected": given.flag("protect_content"),
            "preview": not preview.get("is_disabled"),
            "reply_to": reply.get("message_id"),
            "thread": thread or None,
            "keyboard": keyboard,
        }

    def _store(self, chat: Chat, draft: Draft, options: Mapping[str, Any], group_id: str) -> dict[str, Any]:
        sent = SentMessage(
            message_id=chat.messages[-1].message_id + 1 if chat.messages else 1,
            kind=draft.kind,
            text=draft.marked.text,
            entities=tuple(draft.marked.entities),
            file=draft.file,
            item=draft.item or {},
            options=options,
            media_group_id=group_id,
        )
        chat.messages.append(sent)
        shown: dict[str, Any] = {"message_id": sent.message_id, "date": 1_795_000_000, "chat": chat.shown()}
        if group_id:
            shown["media_group_id"] = group_id
        if draft.kind == "poll":
            shown["poll"] = shown_poll(sent)
        elif sent.text:
            shown["text" if draft.kind == "text" else "caption"] = sent.text
        if sent.file:
            shown[draft.kind] = {"file_id": f"file-{chat.id}-{sent.message_id}", "file_size": len(sent.file.content)}
        return shown


def _check_keyboard(keyboard: list[list[dict[str, str]]]) -> None:
    """Check the buttons below a message, of which this stand-in knows those with a URL."""
    for button in (button for row in keyboard for button in row):
        if not button.get("text"):
            raise bad_request("text buttons are unallowed in the inline keyboard")
        if not button.get("url", "").startswith(("http://", "https://", "tg://")):
            raise bad_request(f"inline keyboard button URL '{button.get('url', '')}' is invalid: Unsupported URL protocol")


def _marked(text: str, parse_mode: str) -> telegram_markup.Marked:
    try:
        return telegram_markup.read(text, parse_mode)
    except telegram_markup.MarkupError as error:
        raise bad_request(str(error)) from error


def _album_item(item: Any, given: Arguments) -> Draft:
    if not isinstance(item, dict):
        raise bad_request("can't parse InputMedia: expected an Object")
    kind = item.get("type")
    if kind == "animation":
        raise bad_request("can't parse InputMedia: type \"animation\" can't be used in sendMediaGroup")
    if kind not in ("photo", "video", "document"):
        raise bad_request(f'can\'t parse InputMedia: type "{kind}" is unsupported')
    reference = item.get("media", "")
    file = given.file(reference, "") if reference.startswith("attach://") else None
    if file is None:
        raise bad_request("can't parse InputMedia: media not found")
    said = {name: item[name] for name in ("width", "height", "duration") if name in item}
    return Draft(kind, _marked(item.get("caption", ""), item.get("parse_mode", "")), file, said)


def _check_album(drafts: list[Draft]) -> None:
    if not drafts:
        raise bad_request("there are no messages to send")
    if len(drafts) > MAX_ALBUM:
        raise bad_request("too many messages to send as an album")
    kinds = {draft.kind for draft in drafts}
    if "document" in kinds and len(kinds) > 1:
        raise bad_request("document can't be mixed with other media types")


def _check_length(draft: Draft) -> None:
    if draft.kind == "text" and not draft.marked.text:
        raise bad_request("text must be non-empty")
    if draft.kind == "text" and draft.marked.length > MAX_TEXT:
        raise bad_request("message is too long")
    if draft.kind in CAPTIONED and draft.marked.length > MAX_CAPTION:
        raise bad_request("message caption is too long")


def _check_file(draft: Draft) -> None:
    if draft.file is None:
        return
    size = len(draft.file.content)
    if not size:
        raise bad_request("file must be non-empty")
    if draft.kind != "photo":
        return
    if size > MAX_PHOTO_BYTES:
        raise bad_request(f"file of size {size} bytes is too big for a photo; the maximum size is {MAX_PHOTO_BYTES} bytes")
    try:
        with Image.open(io.BytesIO(draft.file.content)) as image:
            width, height = image.size
    except UnidentifiedImageError as error:
        raise bad_request("IMAGE_PROCESS_FAILED") from error
    if width + height > MAX_PHOTO_SIDES or max(width, height) > MAX_PHOTO_RATIO * min(width, height):
        raise bad_request("PHOTO_INVALID_DIMENSIONS")
