"""A platform whose steps a test writes: two steps, `start` and the irreversible `send`."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from accounts.platforms.base import Platform
from accounts.platforms.telegram import Telegram
from accounts.platforms.types import Content, Grant, Progress, Published


class ScriptedPlatform(Platform):
    """Stands in the registry in Telegram's place; Telegram cannot be asked, so it is at_most_once.

    `send` is called for the second step with the attempt's content; `sent` counts its calls.
    """

    name = "telegram"
    label = "Telegram"
    capabilities = Telegram.capabilities
    irreversible = frozenset({"send"})
    send: ClassVar[Callable[[Content], Progress | Published]]
    sent: ClassVar[list[Content]]

    def publish(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        if progress.phase == "start":
            return Progress("send", {"prepared": content.key})
        type(self).sent.append(content)
        return type(self).send(content)


def publish_it(content: Content) -> Published:
    """What `send` does when nothing goes wrong."""
    return Published(f"message-{content.key}", f"https://t.me/example/{content.key}")
