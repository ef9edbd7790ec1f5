"""Chats: whether a bot may post to one, whose account it is, and where its messages are shown.

Source: core.telegram.org/bots/api (Chat, ChatFullInfo, ChatMember), core.telegram.org/api/links (message links).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from accounts.platforms.errors import AccountDisconnected, TokenExpired
from accounts.platforms.telegram.bot_api import LET_IN, BotApi, BotApiError, UnreadableAnswer, line, platform_errors
from accounts.platforms.types import Identity

_USERNAME = re.compile(r"[A-Za-z0-9_]{1,64}")


@dataclass(frozen=True)
class Chat:
    """A chat: its number, its type (private, group, supergroup, channel), and its name where it is public."""

    id: int
    type: str
    username: str = ""
    title: str = ""

    @classmethod
    def read(cls, value: Any) -> Self | None:
        """The chat in an answer of Telegram's; None when it is none."""
        if not isinstance(value, dict) or not isinstance(value.get("id"), int):
            return None
        username = value.get("username")
        person = f"{line(value.get('first_name'))} {line(value.get('last_name'))}".strip()
        return cls(
            id=value["id"],
            type=line(value.get("type")),
            username=username if isinstance(username, str) and _USERNAME.fullmatch(username) else "",
            title=line(value.get("title")) or person,
        )

    @classmethod
    def of_tokens(cls, tokens: Mapping[str, Any]) -> Self:
        """The chat as a grant keeps it."""
        return cls(tokens["chat_id"], tokens["chat_type"], tokens["chat_username"])

    def tokens(self) -> dict[str, Any]:
        """What a grant keeps of the chat."""
        return {"chat_id": self.id, "chat_type": self.type, "chat_username": self.username}

    def identity(self, external_id: str) -> Identity:
        """The account that the chat is. Its picture has no address without the bot's token in it."""
        return Identity(
            external_id=external_id,
            handle=f"@{self.username}" if self.username else self.title or external_id,
            display_name=self.title,
            profile_url=f"https://t.me/{self.username}" if self.username else "",
        )

    def has_moved(self) -> TokenExpired:
        """The fault that has the chat's number renewed (Telegram.refresh): a group that became a supergroup takes nothing
        under its old one."""
        return TokenExpired("The group became a supergroup, which has another number.", suggested_action=LET_IN)

    def permalink(self, message_id: int) -> str:
        """Where a message is shown: to everybody in a public chat, to members in others; some chats have no such place."""
        if self.type not in ("supergroup", "channel"):
            return ""
        place = self.username or f"c/{str(self.id).removeprefix('-100')}"
        return f"https://t.me/{place}/{message_id}"


def open_chat(api: BotApi, chat_id: int | str) -> Chat:
    """The chat of this number or @name, to which the bot may post. Raises AccountDisconnected, Transient."""
    with platform_errors():
        bot_id = _object(api.call("getMe")).get("id")
        try:
            return _open(api, chat_id, bot_id)
        except BotApiError as error:
            if error.moved_to is None:
                raise
            return _open(api, error.moved_to, bot_id)


def _open(api: BotApi, chat_id: int | str, bot_id: Any) -> Chat:
    shown = _object(api.call("getChat", {"chat_id": chat_id}))
    chat = Chat.read(shown)
    if chat is None:
        raise UnreadableAnswer("The answer shows no chat.")
    member = _object(api.call("getChatMember", {"chat_id": chat.id, "user_id": bot_id}))
    if not _may_post(chat, shown, member):
        where = "this channel" if chat.type == "channel" else "this chat"
        raise AccountDisconnected(f"The bot may not post to {where}.", suggested_action=LET_IN)
    return chat


def _may_post(chat: Chat, shown: Mapping[str, Any], member: Mapping[str, Any]) -> bool:
    status = member.get("status")
    if chat.type == "channel":
        return status == "creator" or (status == "administrator" and member.get("can_post_messages") is True)
    if status == "restricted":
        return member.get("is_member") is True and member.get("can_send_messages") is True
    if status == "member":
        permissions = shown.get("permissions")
        return not isinstance(permissions, dict) or permissions.get("can_send_messages") is not False
    return status in ("creator", "administrator")


def _object(result: Any) -> dict[str, Any]:
    if not isinstance(result, dict):
        raise UnreadableAnswer("The answer is not what the method answers.")
    return result
