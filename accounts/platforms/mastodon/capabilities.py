"""Mastodon's capabilities: limits and options of Mastodon 4.5, and what owners need to connect an account.

An instance may announce other limits (GET /api/v2/instance). They are read when an account is connected or checked, and
every post is validated with them. Source: docs.joinmastodon.org, user/posting and entities/Instance; texts are counted as by
its StatusLengthValidator, and languages are those of its LanguagesHelper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.counting import URL_LENGTH, grapheme_length, mastodon_length
from accounts.platforms.operator_setup import ConnectionPrerequisites
from accounts.platforms.poll_rules import PollRules
from accounts.platforms.polls import MAX_CHOICE_TEXT, poll_schema
from accounts.platforms.schemas import object_schema
from accounts.platforms.thread_option import thread_texts_schema
from accounts.platforms.thread_rules import ThreadRules
from accounts.platforms.types import Capabilities, ImageRules, MediaRules, PostingPace, TextRules, VideoRules

THREAD = ThreadRules(max_segments=25)  # a limit of this service; Mastodon has none
MAX_SPOILER = 500
MAX_POLL_CHOICES = 100  # a limit of this service for servers that announce more

_FEATURES = (
    "text",
    "links",
    "mentions",
    "hashtags",
    "images",
    "gif",
    "video",
    "alt_text",
    "content_warning",
    "visibility",
    "languages",
    "threads",
    "polls",
)
_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp", "image/avif", "image/heic", "image/heif")
_VIDEOS = ("video/mp4", "video/quicktime", "video/webm", "video/ogg")
_IMAGE_PIXELS = 33_177_600
_OPTIONS: dict[str, Any] = {
    "visibility": {
        "type": "string",
        "description": gettext_noop(
            "Who sees the post and all segments of its thread. The default is the account's own setting."
        ),
        "enum": ["public", "unlisted", "private", "direct"],
    },
    "spoiler_text": {
        "type": "string",
        "description": gettext_noop(
            "A content warning that hides the text of the post and of all segments of its thread. Its "
            "length counts as part of the text."
        ),
        "minLength": 1,
        "maxLength": MAX_SPOILER,
    },
    "sensitive": {
        "type": "boolean",
        "description": gettext_noop("Whether the media are hidden until a reader asks for them."),
    },
    "language": {
        "type": "string",
        "description": gettext_noop(
            "The language of the text and of all segments of its thread, as an ISO 639 code such as en. A "
            "script or a region may follow, such as zh-TW or sr-Latn. Mastodon itself drops all of these except Chinese ones."
        ),
        "maxLength": 12,
        "pattern": "^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2,3}|[0-9]{3}))?$",
    },
    "thread": thread_texts_schema(THREAD),
}
_NOT_POSSIBLE = (
    gettext_noop("Pictures and a video cannot be mixed in one post."),
    gettext_noop("Audio files cannot be posted."),
    gettext_noop("Only the first post of a thread can carry pictures or a video."),
    gettext_noop("The preview of a link cannot be changed: the account's server makes it from the page."),
    gettext_noop("Posts of other accounts cannot be replied to, boosted or quoted."),
)
_POLL_SWITCHES = {
    "multiple": gettext_noop("Whether a voter may choose several answers."),
    "hide_totals": gettext_noop("Whether the counts are hidden until the poll ends."),
}


def _spoiler_length(options: Mapping[str, Any]) -> int:
    """Return the length of a Mastodon content warning, which counts towards the character limit of the status."""
    return grapheme_length(str(options.get("spoiler_text", ""))[:MAX_SPOILER])


def capabilities_with_limits(
    *,
    characters: int = 500,
    media: int = 4,
    image_bytes: int = 16_777_216,
    video_bytes: int = 103_809_024,
    alt_text: int = 1500,
    poll_choices: int = 4,
    poll_choice_length: int = 50,
    poll_min_seconds: int = 300,
    poll_max_seconds: int = 2_629_746,
) -> Capabilities:
    """Return the capabilities of a Mastodon server with the limits that it announces, or else Mastodon's defaults."""
    images = ImageRules(_IMAGES, max_bytes=image_bytes, max_count=media, max_pixels=_IMAGE_PIXELS)
    poll = PollRules(
        max_choices=min(max(poll_choices, 2), MAX_POLL_CHOICES),
        max_choice_length=min(poll_choice_length, MAX_CHOICE_TEXT),
        counted_as="graphemes",
        count=grapheme_length,
        min_duration_minutes=-(-poll_min_seconds // 60),
        max_duration_minutes=max(poll_max_seconds // 60, 1),
        distinct=True,
        switches=_POLL_SWITCHES,
    )
    return Capabilities(
        text=TextRules(
            max_length=characters,
            counted_as="graphemes",
            count=mastodon_length,
            url_length=URL_LENGTH,
            length_taken_by_options=_spoiler_length,
        ),
        media=MediaRules(
            max_count=media,
            images=images,
            # An animated GIF becomes a video, so a post can have only one.
            gifs=replace(images, mime_types=("image/gif",), max_count=1),
            videos=VideoRules(_VIDEOS, max_bytes=video_bytes),
            alt_text_max_length=alt_text,
        ),
        features=_FEATURES,
        retry_safety="verifiable",
        link_preview="platform",
        finds_people=True,
        not_possible=_NOT_POSSIBLE,
        options=object_schema(**_OPTIONS, poll=poll_schema(poll)),
        pace=PostingPace(seconds=36, burst=300),  # Mastodon accepts 300 posts in three hours
        thread=THREAD,
        poll=poll,
    )


CAPABILITIES = capabilities_with_limits()

SCOPES = ("read:accounts", "read:statuses", "write:statuses", "write:media")
WIDE_SCOPES = ("read", "write")  # these include the others, for servers without narrower ones
REQUIRED_SCOPES = f"the scopes {', '.join(SCOPES)}, or {' and '.join(WIDE_SCOPES)} if the server has no narrower ones"

# Operators register nothing: each server registers any application by an API call (methods/apps).
SETUP = ConnectionPrerequisites(
    {
        "credentials": "Their server's name and an access token, which they make there under Settings, Development, with "
        f"the scopes {', '.join(SCOPES)}.",
        "oauth": "Their server's name. This service registers itself at the server, and they grant it access there.",
    }
)
_INSTANCE = {
    "type": "string",
    "title": gettext_noop("Server"),
    "description": gettext_noop("The host name of the account's server, such as mastodon.social, or its https address."),
    "minLength": 1,
    "maxLength": 512,
}
OAUTH_SCHEMA = object_schema(["instance"], instance=_INSTANCE)
CREDENTIALS_SCHEMA = object_schema(
    ["instance", "access_token"],
    instance=_INSTANCE,
    access_token={
        "type": "string",
        "title": gettext_noop("Access token"),
        "writeOnly": True,
        "description": f"An access token of the account, from the server's Settings, Development, with {REQUIRED_SCOPES}.",
        "minLength": 1,
        "maxLength": 512,
    },
)
