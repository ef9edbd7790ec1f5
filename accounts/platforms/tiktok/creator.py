"""The TikTok creator of a grant, and what the creator may post now."""

from __future__ import annotations

import re
from dataclasses import dataclass

from accounts.platforms.http.responses import UnreadableAnswer, as_object, https_url, one_line, text_in
from accounts.platforms.tiktok.client import Api
from accounts.platforms.types import Identity

SITE = "https://www.tiktok.com"
_OPEN_ID = re.compile(r"[\w-]{1,128}", re.ASCII)
_USERNAME = re.compile(r"[\w.]{1,64}")


@dataclass(frozen=True)
class Creator:
    """What TikTok lets a creator post now; `longest_seconds` is None if TikTok names no limit for videos."""

    username: str
    privacy_levels: tuple[str, ...]
    comment_disabled: bool
    duet_disabled: bool
    stitch_disabled: bool
    longest_seconds: int | None


def ask(api: Api) -> Creator:
    """Ask TikTok what the creator may post. Raises TikTokError, NotSent, NoAnswer."""
    info = api.post("/v2/post/publish/creator_info/query/", json={})
    levels, longest = info.get("privacy_level_options"), info.get("max_video_post_duration_sec")
    if not isinstance(levels, list):
        raise UnreadableAnswer("The response has no privacy levels.")
    return Creator(
        username=text_in(info, "creator_username", _USERNAME, "user name"),
        privacy_levels=tuple(one_line(level) for level in levels),
        comment_disabled=info.get("comment_disabled") is True,
        duet_disabled=info.get("duet_disabled") is True,
        stitch_disabled=info.get("stitch_disabled") is True,
        longest_seconds=longest if type(longest) is int and longest > 0 else None,
    )


def identity(api: Api) -> Identity:
    """The TikTok account of an access token. Raises TikTokError, NotSent, NoAnswer."""
    user = as_object(api.get("/v2/user/info/", {"fields": "open_id,avatar_url,display_name"}).get("user"))
    open_id, username = text_in(user, "open_id", _OPEN_ID, "open id"), ask(api).username
    return Identity(
        external_id=open_id,
        handle=username,
        display_name=one_line(user.get("display_name")),
        avatar_url=https_url(user.get("avatar_url")),
        profile_url=profile(username),
    )


def profile(username: str) -> str:
    """The URL of a TikTok creator's profile, where the creator's posts are shown."""
    return f"{SITE}/@{username}"
