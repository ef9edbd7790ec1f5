"""A fake platform with two steps, `start` and the irreversible `send`, whose behaviour tests choose."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from accounts.platforms.base import Platform
from accounts.platforms.counting import utf16_length
from accounts.platforms.types import (
    Capabilities,
    Content,
    Grant,
    MediaRules,
    NotPublishedProof,
    Progress,
    Published,
    TextRules,
    UploadNotPublishedProof,
)


class ScriptedPlatform(Platform):
    """Replaces Telegram in the registry; at_most_once unless a test changes it.

    `send` is called for the second step with the attempt's content; `sent` counts the calls. `search` is called by
    `find_or_rule_out_published_post` if the platform is verifiable; `searches` counts the calls.
    """

    name = "telegram"
    label = "Telegram"
    capabilities = Capabilities(
        text=TextRules(max_length=4096, counted_as="utf16", count=utf16_length),
        media=MediaRules(max_count=0),
        features=("text",),
        retry_safety="at_most_once",
    )
    irreversible = frozenset({"send"})
    send: ClassVar[Callable[[Content], Progress | Published]]
    sent: ClassVar[list[Content]]
    search: ClassVar[Callable[[Content], Published | NotPublishedProof]]
    searches: ClassVar[list[Content]]

    def publish_step(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        if progress.phase == "start":
            return Progress("send", {"prepared": content.key})
        type(self).sent.append(content)
        return type(self).send(content)

    def find_or_rule_out_published_post(
        self, grant: Grant, content: Content, progress: Progress
    ) -> Published | NotPublishedProof:
        type(self).searches.append(content)
        return type(self).search(content)


def publish_content(content: Content) -> Published:
    """The default `send`: publish without an error."""
    return Published(f"message-{content.key}", f"https://t.me/example/{content.key}")


def find_nothing(content: Content) -> NotPublishedProof:
    """The default `search`: find no post, with a proof."""
    return NotPublishedProof(UploadNotPublishedProof("not published"))
