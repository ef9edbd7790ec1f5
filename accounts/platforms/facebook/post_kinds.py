"""The kinds of Facebook posts (text, photos, video, reel, story): how content selects one, and each kind's restrictions."""

from __future__ import annotations

from typing import Literal

from django.utils.translation import gettext_noop

from accounts.platforms.errors import ContentRejected
from accounts.platforms.facebook.capabilities import CAPABILITIES
from accounts.platforms.option_media import raise_if_options_do_not_fit_media
from accounts.platforms.types import Content

PostKind = Literal["text", "photos", "video", "reel", "photo_story", "video_story"]
VIDEO_KINDS: frozenset[PostKind] = frozenset({"video", "reel", "video_story"})
STORY_KINDS: frozenset[PostKind] = frozenset({"photo_story", "video_story"})


def kind_of(content: Content) -> PostKind:
    """Return the kind of Facebook post that content becomes, according to its media and its option `post_type`."""
    post_type = content.options.get("post_type", "post")
    if post_type == "reel":
        return "reel"
    is_video = bool(content.media) and content.media[0].kind == "video"
    if post_type == "story":
        return "video_story" if is_video else "photo_story"
    return "video" if is_video else "photos" if content.media else "text"


def raise_if_content_breaks_kind_rules(content: Content) -> None:
    """Raise ContentRejected if a Facebook post breaks a rule of its kind, such as a reel without a video.

    This is checked before any file is uploaded.
    """
    raise_if_options_do_not_fit_media(content, CAPABILITIES.option_media)
    options = content.options
    if options.get("post_type") == "story" and options.keys() & {"first_comment", "title"}:
        raise ContentRejected(
            gettext_noop("A story has no comment and no title."), suggested_action="Leave `first_comment` and `title` out."
        )
    if not content.media and not content.text.strip() and "link" not in options:
        raise ContentRejected(gettext_noop("There is neither text nor media."))
