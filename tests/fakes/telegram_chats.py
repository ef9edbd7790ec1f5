"""Bots, chats and rights of the Telegram stand-in, and the messages that it accepted.

Not thread-safe: the caller holds the stand-in's lock. Source: core.telegram.org/bots/api (Chat, ChatMember); who is
refused with which words is read from the API's own server (tdlib/telegram-bot-api, check_chat_access).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

ChatType = Literal["private", "group", "supergroup", "channel"]
Status = Literal["creator", "administrator", "member", "restricted", "left", "kicked"]

SUPERGROUP_BASE = -1_000_000_000_000


class Refusal(Exception):
    """An error `{"ok": false, …}` of the Bot API."""

    def __init__(self, status: int, description: str, **parameters: int) -> None:
        super().__init__(f"{status} {description}")
        self.status = status
        self.description = description
        self.parameters = parameters


def bad_request(reason: str, **parameters: int) -> Refusal:
    """The Bot API's error for an invalid request, with status 400."""
    return Refusal(400, f"Bad Request: {reason}", **parameters)


def forbidden(reason: str) -> Refusal:
    return Refusal(403, f"Forbidden: {reason}")


@dataclass(frozen=True)
class SentFile:
    """A file uploaded to Telegram, with the name and type of its part."""

    content: bytes
    filename: str
    mime_type: str


@dataclass(frozen=True)
class SentMessage:
    """A message in a Telegram chat; `text` is its text or caption without markup, `item` has the fields of its file."""

    message_id: int
    kind: str
    text: str
    entities: tuple[Mapping[str, Any], ...]
    file: SentFile | None
    item: Mapping[str, Any]
    options: Mapping[str, Any]
    media_group_id: str = ""


@dataclass
class Bot:
    id: int
    token: str
    username: str

    def shown(self) -> dict[str, Any]:
        """The Telegram bot as a User."""
        return {"id": self.id, "is_bot": True, "first_name": self.username, "username": self.username}


@dataclass
class Chat:
    """A Telegram chat; `members` has the status and rights of each bot that is or was a member."""

    id: int
    type: ChatType
    title: str
    username: str = ""
    members: dict[int, dict[str, Any]] = field(default_factory=dict)
    members_may_send: bool = True
    moved_to: int | None = None
    messages: list[SentMessage] = field(default_factory=list)

    def shown(self) -> dict[str, Any]:
        """The Telegram chat as a Chat."""
        named = {"first_name": self.title} if self.type == "private" else {"title": self.title}
        return {"id": self.id, "type": self.type, **named} | ({"username": self.username} if self.username else {})

    def member(self, bot: Bot) -> dict[str, Any]:
        """The Telegram bot as a ChatMember, without the user."""
        if self.type == "private":
            return {"status": "member"}
        return self.members.get(bot.id, {"status": "left"})

    def check_readable(self, bot: Bot) -> None:
        """Raise the refusal for a bot that may not see this chat: removed bots see none, non-members only public ones."""
        status = self.member(bot)["status"]
        if status == "kicked":
            raise forbidden(f"bot was kicked from the {self.type} chat")
        if status == "left" and not self.username and self.type != "group":
            raise forbidden(f"bot is not a member of the {self.type} chat")

    def check_writable(self, bot: Bot, kind: str) -> None:
        """Raise the refusal for a bot that may not send messages of this kind (text messages, photos …)."""
        self.check_active()
        member = self.member(bot)
        if member["status"] in ("kicked", "left"):
            why = "was kicked from" if member["status"] == "kicked" else "is not a member of"
            raise forbidden(f"bot {why} the {self.type} chat")
        if self.type == "channel":
            if member["status"] != "administrator" or not member.get("can_post_messages"):
                raise bad_request("need administrator rights in the channel chat")
        elif not self._may_send(member):
            raise bad_request(f"not enough rights to send {kind} to the chat")

    def check_active(self) -> None:
        """Raise the refusal for a group that became a supergroup."""
        if self.moved_to is not None:
            raise bad_request("group chat was upgraded to a supergroup chat", migrate_to_chat_id=self.moved_to)

    def _may_send(self, member: Mapping[str, Any]) -> bool:
        if member["status"] == "restricted":
            return bool(member.get("is_member") and member.get("can_send_messages"))
        return member["status"] != "member" or self.members_may_send


class Directory:
    """All bots and chats of the Telegram stand-in."""

    def __init__(self) -> None:
        self.bots: dict[str, Bot] = {}
        self.chats: dict[int, Chat] = {}
        self._count = 0

    def add_bot(self, username: str) -> Bot:
        number = 7_000_000_000 + len(self.bots)
        bot = Bot(number, f"{number}:AAH-{username}_{'x' * 24}", username)
        self.bots[bot.token] = bot
        return bot

    def add_chat(self, kind: ChatType, title: str, username: str) -> Chat:
        self._count += 1
        number = {"private": 5_000 + self._count, "group": -5_000 - self._count}.get(kind, SUPERGROUP_BASE - self._count)
        self.chats[number] = Chat(number, kind, title, username)
        return self.chats[number]

    def upgrade(self, group: Chat) -> Chat:
        """Turn a group into a supergroup with the same members."""
        successor = self.add_chat("supergroup", group.title, "")
        successor.members = dict(group.members)
        group.moved_to = successor.id
        return successor

    def bot_of(self, token: str) -> Bot:
        """The bot of a token. Raises 404 for a malformed token, 401 for a wrong one."""
        if not token.partition(":")[0].isdecimal() or ":" not in token:
            raise Refusal(404, "Not Found")
        if token not in self.bots:
            raise Refusal(401, "Unauthorized")
        return self.bots[token]

    def find(self, chat_id: str) -> Chat:
        """The Telegram chat by its number or, if it is public, by its @name."""
        if not chat_id:
            raise bad_request("chat_id is empty")
        for chat in self.chats.values():
            if str(chat.id) == chat_id or (chat.username and f"@{chat.username}".lower() == chat_id.lower()):
                return chat
        raise bad_request("chat not found")
