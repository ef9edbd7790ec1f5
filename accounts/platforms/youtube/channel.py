"""The YouTube channels of a grant. Source: developers.google.com/youtube/v3, channels.list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.platforms.http.responses import as_object, https_url, one_line
from accounts.platforms.types import Identity
from accounts.platforms.youtube.client import Api, id_of, items_of

SITE = "https://www.youtube.com"


def identities(api: Api) -> tuple[Identity, ...]:
    """The YouTube channels of the grant, usually one: owners of several choose one at the consent.

    Raises YouTubeError, NotSent, NoAnswer.
    """
    answer = api.get("/youtube/v3/channels", {"part": "snippet", "mine": "true"})
    return tuple(_identity(channel) for channel in items_of(answer))


def permalink(video_id: str) -> str:
    """The URL of a YouTube video."""
    return f"{SITE}/watch?v={video_id}"


def _identity(channel: Mapping[str, Any]) -> Identity:
    snippet = as_object(channel.get("snippet"))
    title, channel_id = one_line(snippet.get("title")), id_of(channel)
    picture = as_object(as_object(snippet.get("thumbnails")).get("default"))
    return Identity(
        external_id=channel_id,
        handle=one_line(snippet.get("customUrl")).removeprefix("@") or title or channel_id,
        display_name=title,
        avatar_url=https_url(picture.get("url")),
        profile_url=f"{SITE}/channel/{channel_id}",
    )
