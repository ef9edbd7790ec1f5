"""The two steps of publishing to Discord."""

from __future__ import annotations

from typing import Any

from accounts.platforms.base import START
from accounts.platforms.discord.adapter import Discord
from accounts.platforms.types import Content, Grant, MediaFile, Progress, Published


def send(discord: Discord, grant: Grant, text: str, *media: MediaFile, **options: Any) -> Published:
    """Prepare a Discord message, then post it."""
    content = Content("tgt_1", text, options, media=media)
    progress = discord.publish_step(grant, content, START)
    assert progress == Progress("send")
    published = discord.publish_step(grant, content, progress)
    assert isinstance(published, Published)
    return published
