"""TikTok posts: checking a post against what TikTok allows its creator, and the requests that publish it.

Source: developers.tiktok.com, direct post and photo post, and its guidelines: the service never chooses for the creator who
may see the post, and never allows what the creator's own settings forbid.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.errors import ConnectionUnavailable, ContentRejected
from accounts.platforms.http.responses import UnreadableAnswer, one_line, required_matching_text
from accounts.platforms.tiktok.client import Api
from accounts.platforms.types import Content

COMMERCIAL_CONTENT_OPTIONS = ("brand_content_toggle", "brand_organic_toggle")
_USERNAME = re.compile(r"[\w.]{1,64}")


@dataclass(frozen=True)
class CreatorLimits:
    """What TikTok currently allows in a creator's posts: the privacy levels, the longest video, and so on."""

    username: str
    privacy_levels: tuple[str, ...]
    comment_disabled: bool
    duet_disabled: bool
    stitch_disabled: bool
    longest_seconds: int | None


def fetch_creator_limits(api: Api) -> CreatorLimits:
    """Ask what TikTok allows in a creator's posts: the privacy levels, the longest video, and whether comments are off.

    Raises TikTokError, NotSent, SentWithoutAnswer.
    """
    info = api.post("/v2/post/publish/creator_info/query/", json={})
    levels, longest = info.get("privacy_level_options"), info.get("max_video_post_duration_sec")
    if not isinstance(levels, list):
        raise UnreadableAnswer("The response has no privacy levels.")
    return CreatorLimits(
        username=required_matching_text(info, "creator_username", _USERNAME, "user name"),
        privacy_levels=tuple(one_line(level) for level in levels),
        comment_disabled=info.get("comment_disabled") is True,
        duet_disabled=info.get("duet_disabled") is True,
        stitch_disabled=info.get("stitch_disabled") is True,
        longest_seconds=longest if type(longest) is int and longest > 0 else None,
    )


def is_video_not_photos_or_raise(content: Content) -> bool:
    """Return whether the TikTok post is a video and not photos. Raises ContentRejected if it is neither."""
    kinds = {file.kind for file in content.media}
    if kinds == {"video"} and len(content.media) == 1:
        return True
    if kinds == {"image"}:
        return False
    raise ContentRejected(gettext_noop("TikTok accepts one video, or photos."))


def check_creator_limits(content: Content, creator: CreatorLimits) -> None:
    """Raise ContentRejected if the TikTok post has a privacy level or a length that its creator may not use now."""
    level = content.options["privacy_level"]
    if level not in creator.privacy_levels:
        raise ContentRejected(
            f"The creator cannot post {level} now, but {' or '.join(creator.privacy_levels) or 'nothing'}.",
            suggested_action="Make a new post with a privacy_level that the creator may choose.",
        )
    milliseconds = content.media[0].duration_ms
    if (
        is_video_not_photos_or_raise(content)
        and milliseconds
        and creator.longest_seconds
        and milliseconds > creator.longest_seconds * 1000
    ):
        raise ContentRejected(
            f"The video has {milliseconds / 1000:g} seconds; the creator may post {creator.longest_seconds}."
        )


def require_verified_photo_urls(content: Content, verified: str) -> None:
    """Check a TikTok post's photos: raise ConnectionUnavailable unless their URLs have a prefix verified at TikTok."""
    if is_video_not_photos_or_raise(content) or (verified and all(file.url.startswith(verified) for file in content.media)):
        return
    raise ConnectionUnavailable(
        gettext_noop("TikTok fetches photos from addresses only that the operator has verified."),
        suggested_action="Ask the operator of the service to verify its address at TikTok and to set TIKTOK_VERIFIED_PREFIX.",
    )


def video_post_info(content: Content, creator: CreatorLimits) -> dict[str, Any]:
    """Return the `post_info` (title, privacy level, …) of a TikTok post that is a video."""
    options = content.options
    info = {
        "title": content.text,
        "privacy_level": options["privacy_level"],
        "disable_comment": creator.comment_disabled or options.get("disable_comment", False),
        "disable_duet": creator.duet_disabled or options.get("disable_duet", False),
        "disable_stitch": creator.stitch_disabled or options.get("disable_stitch", False),
    }
    if "cover_timestamp_ms" in options:
        info["video_cover_timestamp_ms"] = options["cover_timestamp_ms"]
    return info | {name: options[name] for name in (*COMMERCIAL_CONTENT_OPTIONS, "is_aigc") if name in options}


def photo_post_request_body(content: Content, *, comment_disabled: bool) -> dict[str, Any]:
    """Return the body of the request that publishes a TikTok post with photos."""
    options = content.options
    info = {
        "description": content.text,
        "privacy_level": options["privacy_level"],
        "disable_comment": comment_disabled or options.get("disable_comment", False),
    }
    info |= {name: options[name] for name in (*COMMERCIAL_CONTENT_OPTIONS, "title", "auto_add_music") if name in options}
    return {
        "media_type": "PHOTO",
        "post_mode": "DIRECT_POST",
        "post_info": info,
        "source_info": {
            "source": "PULL_FROM_URL",
            "photo_images": [file.url for file in content.media],
            "photo_cover_index": min(options.get("photo_cover_index", 0), len(content.media) - 1),
        },
    }
