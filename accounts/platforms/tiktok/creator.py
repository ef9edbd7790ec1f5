"""Whose grant it is, and what the creator may post at this moment. Source: developers.tiktok.com, user info, creator info."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from accounts.platforms.tiktok.client import Api, UnreadableAnswer, line
from accounts.platforms.types import Identity

SITE = "https://www.tiktok.com"
_OPEN_ID = re.compile(r"[\w-]{1,128}", re.ASCII)
_USERNAME = re.compile(r"[\w.]{1,64}")
_PICTURE = re.compile(r"https://[\x21-\x7e]{1,2000}")


@dataclass(frozen=True)
class Creator:
    """What TikTok lets a creator post now; the longest video in seconds, None where it is not told."""

    username: str
    privacy_levels: tuple[str, ...]
    comment_disabled: bool
    duet_disabled: bool
    stitch_disabled: bool
    longest_seconds: int | None


def ask(api: Api) -> Creator:
    """What the creator may post. Raises TikTokError, NotSent, NoAnswer."""
    told = api.post("/v2/post/publish/creator_info/query/")
    username, levels = told.get("creator_username"), told.get("privacy_level_options")
    if not isinstance(username, str) or not _USERNAME.fullmatch(username) or not isinstance(levels, list):
        raise UnreadableAnswer("The answer names no creator.")
    longest = told.get("max_video_post_duration_sec")
    return Creator(
        username=username,
        privacy_levels=tuple(line(level) for level in levels),
        comment_disabled=told.get("comment_disabled") is True,
        duet_disabled=told.get("duet_disabled") is True,
        stitch_disabled=told.get("stitch_disabled") is True,
        longest_seconds=longest if type(longest) is int and longest > 0 else None,
    )


def identity(api: Api) -> Identity:
    """Whose access token it is. Raises TikTokError, NotSent, NoAnswer."""
    user = api.get("/v2/user/info/", {"fields": "open_id,avatar_url,display_name"}).get("user")
    open_id = user.get("open_id") if isinstance(user, dict) else None
    if not isinstance(user, dict) or not isinstance(open_id, str) or not _OPEN_ID.fullmatch(open_id):
        raise UnreadableAnswer("The answer names no account.")
    username = ask(api).username
    return Identity(
        external_id=open_id,
        handle=username,
        display_name=line(user.get("display_name")),
        avatar_url=_picture(user.get("avatar_url")),
        profile_url=profile(username),
    )


def profile(username: str) -> str:
    """Where a creator's posts are shown."""
    return f"{SITE}/@{username}"


def _picture(value: Any) -> str:
    return value if isinstance(value, str) and _PICTURE.fullmatch(value) else ""
