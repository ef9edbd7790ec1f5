"""A platform whose steps a test writes: two steps, `start` and the irreversible `send`."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from accounts.platforms.base import Platform
from accounts.platforms.counting import utf16_units
from accounts.platforms.types import (
    Absent,
    AskedById,
    Capabilities,
    Content,
    Grant,
    MediaRules,
    Progress,
    Published,
    TextRules,
)


class ScriptedPlatform(Platform):
    """Stands in the registry in Telegram's place; it cannot be asked, so it is at_most_once unless a test says else.

    `send` is called for the second step with the attempt's content; `sent` counts its calls. `look` is asked where the
    platform is verifiable; `looks` counts.
    """

    name = "telegram"
    label = "Telegram"
    capabilities = Capabilities(
        text=TextRules(max_length=4096, counted_as="utf16", count=utf16_units),
        media=MediaRules(max_count=0),
        features=("text",),
        retry_safety="at_most_once",
    )
    irreversible = frozenset({"send"})
    send: ClassVar[Callable[[Content], Progress | Published]]
    sent: ClassVar[list[Content]]
    look: ClassVar[Callable[[Content], Published | Absent]]
    looks: ClassVar[list[Content]]

    def publish(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        if progress.phase == "start":
            return Progress("send", {"prepared": content.key})
        type(self).sent.append(content)
        return type(self).send(content)

    def find(self, grant: Grant, content: Content, progress: Progress) -> Published | Absent:
        type(self).looks.append(content)
        return type(self).look(content)


def publish_it(content: Content) -> Published:
    """What `send` does when nothing goes wrong."""
    return Published(f"message-{content.key}", f"https://t.me/example/{content.key}")


def not_there(content: Content) -> Absent:
    """What `look` answers when the platform says that it does not have the post."""
    return Absent(AskedById("not published"))
