"""The kinds of Facebook posts (text, photos, video, reel, story): how content selects one, and each kind's restrictions."""

from __future__ import annotations

from typing import Literal

from accounts.platforms.errors import ContentRejected
from accounts.platforms.types import Content

PostKind = Literal["text", "photos", "video", "reel", "photo_story", "video_story"]
VIDEO_KINDS: frozenset[PostKind] = frozenset({"video", "reel", "video_story"})
STORY_KINDS: frozenset[PostKind] = frozenset({"photo_story", "video_story"})
MAX_SECONDS: dict[PostKind, int] = {"reel": 90, "video_story": 60}
MIN_SECONDS = 3


def kind_of(content: Content) -> PostKind:
    """Return the kind of Facebook post that content becomes, according to its media and its option `post_type`."""
    post_type = content.options.get("post_type", "post")
    if post_type == "reel":
        return "reel"
    is_video = bool(content.media) and content.media[0].kind == "video"
    if post_type == "story":
        return "video_story" if is_video else "photo_story"
    return "video" if is_video else "photos" if content.media else "text"


def check_content(content: Content) -> None:
    """Raise ContentRejected if a Facebook post breaks a rule of its kind, such as a reel without a video.

    This is checked before any file is uploaded.
    """
    post_type, options = content.options.get("post_type", "post"), content.options
    files = [file.kind for file in content.media]
    if post_type == "reel" and files != ["video"]:
        raise ContentRejected("A reel is one video.", suggested_action="Attach one video, or leave `post_type` out.")
    if post_type == "story" and files not in (["image"], ["video"]):
        raise ContentRejected(
            "A story is one photo or one video.", suggested_action="Attach one file, or leave `post_type` out."
        )
    if "link" in options and files:
        raise ContentRejected(
            "Facebook shows a link with a preview, or media.", suggested_action="Leave the link or the media out."
        )
    if "title" in options and files != ["video"]:
        raise ContentRejected("Only a video has a title.", suggested_action="Leave the title out.")
    if post_type == "story" and options.keys() & {"first_comment", "title"}:
        raise ContentRejected(
            "A story has no comment and no title.", suggested_action="Leave `first_comment` and `title` out."
        )
    if not files and not content.text.strip() and "link" not in options:
        raise ContentRejected("There is neither text nor media.")
    _check_length(content)


def _check_length(content: Content) -> None:
    kind = kind_of(content)
    if kind not in MAX_SECONDS:
        return
    milliseconds, longest = content.media[0].duration_ms, MAX_SECONDS[kind]
    if milliseconds is not None and not MIN_SECONDS * 1000 <= milliseconds <= longest * 1000:
        name = "reel" if kind == "reel" else "story"
        raise ContentRejected(
            f"The video lasts {milliseconds / 1000:g} seconds; a {name} lasts {MIN_SECONDS} to {longest}.",
            suggested_action=f"Cut it to {longest} seconds, or publish it as a post.",
        )
