"""The registry of all platform adapters by name.

A new platform needs one line in this file.
"""

from __future__ import annotations

from functools import cache

from django.utils.module_loading import import_string

from accounts.platforms.base import Platform
from accounts.platforms.sandbox import Sandbox

PLATFORMS = {
    "bluesky": "accounts.platforms.bluesky.adapter.Bluesky",
    "mastodon": "accounts.platforms.mastodon.adapter.Mastodon",
    "telegram": "accounts.platforms.telegram.adapter.Telegram",
    "discord": "accounts.platforms.discord.adapter.Discord",
    "x": "accounts.platforms.x.adapter.X",
    "linkedin": "accounts.platforms.linkedin.adapter.LinkedIn",
    "threads": "accounts.platforms.threads.adapter.Threads",
    "instagram": "accounts.platforms.instagram.adapter.Instagram",
    "facebook": "accounts.platforms.facebook.adapter.Facebook",
    "youtube": "accounts.platforms.youtube.adapter.YouTube",
    "tiktok": "accounts.platforms.tiktok.adapter.TikTok",
    "pinterest": "accounts.platforms.pinterest.adapter.Pinterest",
    "slack": "accounts.platforms.slack.adapter.Slack",
}


@cache
def get_adapter(name: str) -> Platform:
    """Return the platform adapter that the registry has under this name. Raises KeyError if there is none."""
    made: Platform = import_string(PLATFORMS[name])()
    return made


@cache
def adapter_or_simulator(name: str, *, sandbox: bool) -> Platform:
    """Return the registered adapter of a platform or, for sandbox accounts and posts, the simulator of this platform.

    Raises KeyError if no platform has this name.
    """
    return Sandbox(get_adapter(name)) if sandbox else get_adapter(name)


def all_adapters() -> list[Platform]:
    """Return all platform adapters in the order in which they are registered."""
    return [get_adapter(name) for name in PLATFORMS]


def platform_label(name: str) -> str:
    """Return the display name of a registered platform, such as YouTube; for unknown ones, the capitalized name."""
    return get_adapter(name).label if name in PLATFORMS else name.capitalize()
