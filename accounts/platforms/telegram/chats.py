"""Telegram chats: whether a bot may post to a chat, the account that represents the chat, and links to its messages.

Source: core.telegram.org/bots/api (Chat, ChatFullInfo, ChatMember), core.telegram.org/api/links (message links).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from django.utils.translation import gettext_noop

from accounts.platforms.errors import ReauthRequired, TokenExpired
from accounts.platforms.http.responses import UnreadableAnswer, object_or_empty, one_line
from accounts.platforms.telegram.client import ADD_BOT_ADVICE, ERRORS, BotApi, BotApiError
from accounts.platforms.types import Identity

_USERNAME = re.compile(r"[A-Za-z0-9_]{1,64}")


@dataclass(frozen=True)
class Chat:
    """A Telegram chat: its id, its type (private, group, supergroup, channel), its title, and its username if it has one."""

    id: int
    type: str
    username: str = ""
    title: str = ""

    @classmethod
    def from_bot_api_object_or_none(cls, value: Any) -> Self | None:
        """Return the Telegram chat in a response of the Bot API; None if the value does not describe a chat."""
        chat = object_or_empty(value)
        if type(chat.get("id")) is not int:
            return None
        username = chat.get("username")
        person = f"{one_line(chat.get('first_name'))} {one_line(chat.get('last_name'))}".strip()
        return cls(
            id=chat["id"],
            type=one_line(chat.get("type")),
            username=username if isinstance(username, str) and _USERNAME.fullmatch(username) else "",
            title=one_line(chat.get("title")) or person,
        )

    @classmethod
    def from_stored_fields(cls, tokens: Mapping[str, Any]) -> Self:
        """Return the Telegram chat that is stored with a connected account."""
        return cls(tokens["chat_id"], tokens["chat_type"], tokens["chat_username"])

    def fields_to_store(self) -> dict[str, Any]:
        """Return the id, type and username of the Telegram chat, as they are stored with a connected account."""
        return {"chat_id": self.id, "chat_type": self.type, "chat_username": self.username}

    def identity(self, external_id: str) -> Identity:
        """Describe this Telegram chat as an account; without a picture, whose URL would contain the bot's token."""
        return Identity(
            external_id=external_id,
            handle=f"@{self.username}" if self.username else self.title or external_id,
            display_name=self.title,
            profile_url=f"https://t.me/{self.username}" if self.username else "",
        )

    def changed_id_error(self) -> TokenExpired:
        """Return the error to raise if this Telegram chat's id has changed, because the group has become a supergroup.

        The error makes the engine renew the chat's id (Telegram.refresh_grant).
        """
        return TokenExpired(
            gettext_noop("The group became a supergroup, which has a new id."), suggested_action=ADD_BOT_ADVICE
        )

    def permalink(self, message_id: int) -> str:
        """Return the Telegram chat's link to one of its messages, which may work for members only; empty if there is none."""
        if self.type not in ("supergroup", "channel"):
            return ""
        path = self.username or f"c/{str(self.id).removeprefix('-100')}"
        return f"https://t.me/{path}/{message_id}"


def fetch_postable_chat(api: BotApi, chat_id: int | str) -> Chat:
    """Return the Telegram chat with this id or @username if the bot may post to it. Raises ReauthRequired, Transient."""
    with ERRORS.translating_repeatable_call_errors():
        bot_id = _object(api, "getMe").get("id")
        try:
            return _open(api, chat_id, bot_id)
        except BotApiError as error:
            if error.moved_to is None:
                raise
            return _open(api, error.moved_to, bot_id)


def _open(api: BotApi, chat_id: int | str, bot_id: Any) -> Chat:
    details = _object(api, "getChat", chat_id=chat_id)
    chat = Chat.from_bot_api_object_or_none(details)
    if chat is None:
        raise UnreadableAnswer("The response has no chat.")
    member = _object(api, "getChatMember", chat_id=chat.id, user_id=bot_id)
    if not _may_post(chat, object_or_empty(details.get("permissions")), member):
        where = "this channel" if chat.type == "channel" else "this chat"
        raise ReauthRequired(f"The bot may not post to {where}.", suggested_action=ADD_BOT_ADVICE)
    return chat


def _may_post(chat: Chat, permissions: Mapping[str, Any], member: Mapping[str, Any]) -> bool:
    status = member.get("status")
    if chat.type == "channel":
        return status == "creator" or (status == "administrator" and member.get("can_post_messages") is True)
    if status == "restricted":
        return member.get("is_member") is True and member.get("can_send_messages") is True
    if status == "member":
        return permissions.get("can_send_messages") is not False
    return status in ("creator", "administrator")


def _object(api: BotApi, method: str, **fields: Any) -> dict[str, Any]:
    result = api.call_method(method, fields)
    if not isinstance(result, dict):
        raise UnreadableAnswer("The result is not an object.")
    return result
