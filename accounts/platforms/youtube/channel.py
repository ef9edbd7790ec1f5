"""The channels that a grant opens. Source: developers.google.com/youtube/v3, channels.list."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from accounts.platforms.types import Identity
from accounts.platforms.youtube.client import Api, id_of, items_of, line

SITE = "https://www.youtube.com"
_PICTURE = re.compile(r"https://[\x21-\x7e]{1,2000}")


def identities(api: Api) -> tuple[Identity, ...]:
    """The channels of the grant, mostly one: a person with several picks it at the consent. None where there is no channel.

    Raises YouTubeError, NotSent, NoAnswer.
    """
    answer = api.get("/youtube/v3/channels", {"part": "snippet", "mine": "true"})
    return tuple(_identity(channel) for channel in items_of(answer))


def permalink(video_id: str) -> str:
    """Where a video is shown."""
    return f"{SITE}/watch?v={video_id}"


def _identity(channel: Mapping[str, Any]) -> Identity:
    told = channel.get("snippet")
    snippet = told if isinstance(told, dict) else {}
    title, channel_id = line(snippet.get("title")), id_of(channel)
    return Identity(
        external_id=channel_id,
        handle=line(snippet.get("customUrl")).removeprefix("@") or title or channel_id,
        display_name=title,
        avatar_url=_picture(snippet.get("thumbnails")),
        profile_url=f"{SITE}/channel/{channel_id}",
    )


def _picture(thumbnails: Any) -> str:
    try:
        url = thumbnails["default"]["url"]
    except (KeyError, TypeError):
        return ""
    return url if isinstance(url, str) and _PICTURE.fullmatch(url) else ""
