"""Instagram's capabilities: limits and options for professional accounts, and where the operator's app is registered.

A caption of 2,200 characters with at most 30 hashtags and 20 mentions; since December 2025 Instagram recommends at most 5
hashtags. JPEG only; a carousel mixes up to 10 images and videos; there are no posts of text alone; links in captions cannot
be clicked. Images are between 4:5 and 1.91:1, except in stories. A single video is a reel of 3 seconds to 15 minutes, a
story's video lasts up to 60 seconds. Images have alt texts, of undocumented length. Instagram fetches the files itself, and
is asked how many posts an account may publish in 24 hours (containers.py). Sources: developers.facebook.com/docs/instagram-
platform (content publishing, ig-user/media), and for video sizes the guidelines of a third party.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.counting import code_point_length
from accounts.platforms.operator_setup import ConnectionPrerequisites, PlatformApplication
from accounts.platforms.option_media import OptionMediaRule
from accounts.platforms.schemas import object_schema
from accounts.platforms.types import Capabilities, ImageRules, MediaRules, TextRules, VideoRules

REQUIRED_SCOPES = ("instagram_business_basic", "instagram_business_content_publish")  # required for publishing
SCOPES = (*REQUIRED_SCOPES, "instagram_business_manage_comments")  # the scopes that are requested by default

_HASHTAG = re.compile(r"(?<![\w&])#\w*[^\W\d_]\w*")
_MENTION = re.compile(r"(?<![\w.])@\w[\w.]*")


def count_hashtags(text: str) -> int:
    """Count the hashtags in a text for the limit in Instagram's capabilities."""
    return len(_HASHTAG.findall(text))


def count_mentions(text: str) -> int:
    """Count the @mentions in a text for the limit in Instagram's capabilities."""
    return len(_MENTION.findall(text))


OPTIONS: dict[str, Any] = {
    **object_schema(
        post_type={
            "type": "string",
            "description": gettext_noop(
                "What the media become: a post (the default; a single video is a reel, several files "
                "a carousel), a reel (one video) or a story (one image or video; it shows no text)."
            ),
            "enum": ["post", "reel", "story"],
        },
        share_to_feed={
            "type": "boolean",
            "description": gettext_noop("Whether a reel shows in the profile's feed as well; it does by default."),
        },
        thumb_offset={
            "type": "integer",
            "description": gettext_noop("The moment of a reel, in milliseconds, whose picture is its cover."),
            "minimum": 0,
        },
        collaborators={
            "type": "array",
            "description": gettext_noop("User names of accounts that are invited to share the post."),
            "items": {"type": "string", "maxLength": 30, "pattern": "^[A-Za-z0-9._]+$"},
            "minItems": 1,
            "maxItems": 3,
            "uniqueItems": True,
        },
        first_comment={
            "type": "string",
            "description": gettext_noop(
                "A comment that the account adds to its post at once. If it fails, the post stays published, with a note."
            ),
            "minLength": 1,
            "maxLength": 2200,
            "pattern": "\\S",
        },
    ),
    "if": {"properties": {"post_type": {"const": "story"}}, "required": ["post_type"]},
    "then": {"properties": dict.fromkeys(("share_to_feed", "thumb_offset", "collaborators", "first_comment"), False)},
}

_IMAGES = ImageRules(
    mime_types=("image/jpeg",),
    max_bytes=8_388_608,
    max_count=10,
    min_ratio=0.8,
    max_ratio=1.911,  # 1.91:1; 1,200 × 628 pixels are a little wider
)
_MEDIA = MediaRules(
    max_count=10,
    mixed=True,
    images=_IMAGES,
    videos=VideoRules(
        mime_types=("video/mp4", "video/quicktime"),
        max_bytes=300_000_000,
        max_duration_seconds=900,
        max_count=10,
        min_duration_seconds=3,
    ),
    required=True,
)
_STORY_MEDIA = replace(_MEDIA, images=replace(_IMAGES, min_ratio=None, max_ratio=None))


def media_rules_for_post_type(options: Mapping[str, Any]) -> MediaRules:
    """Return Instagram's media rules for a post with these options: images of a story may have any aspect ratio."""
    return _STORY_MEDIA if options.get("post_type") == "story" else _MEDIA


_ONLY_REEL = gettext_noop("Only a reel, which is one video, has a cover and can be kept out of the feed.")

CAPABILITIES = Capabilities(
    text=TextRules(
        max_length=2200,
        counted_as="characters",
        count=code_point_length,
        additional_limits=(("hashtags", 30, count_hashtags), ("mentions", 20, count_mentions)),
        advised_limits=(("hashtags", 5, count_hashtags),),
    ),
    media=_MEDIA,
    media_for_options=media_rules_for_post_type,
    features=(
        "text",
        "mentions",
        "hashtags",
        "images",
        "video",
        "alt_text",
        "carousels",
        "reels",
        "stories",
        "first_comment",
    ),
    retry_safety="verifiable",
    not_possible=(
        gettext_noop("Personal accounts cannot be connected: only professional ones (business or creator)."),
        gettext_noop("A post of text alone is not possible."),
        gettext_noop("PNG, WebP and GIF pictures are not possible: only JPEG."),
        gettext_noop("A single video cannot be an ordinary post: it becomes a reel."),
        gettext_noop("Links in a caption cannot be clicked."),
        gettext_noop("Videos and stories cannot have alt text."),
        gettext_noop("A story shows no text, and stickers, polls, music and links cannot be added to it."),
        gettext_noop("A scheduled post is not shown in Instagram's own planner: this service stores it until its time."),
    ),
    options=OPTIONS,
    option_media=(
        OptionMediaRule("post_type", gettext_noop("A reel is one video."), ("video",), value="reel"),
        OptionMediaRule(
            "post_type",
            gettext_noop("A story is one image, or one video of up to 60 seconds."),
            ("image", "video"),
            value="story",
            max_seconds=60,
        ),
        OptionMediaRule("share_to_feed", _ONLY_REEL, ("video",)),
        OptionMediaRule("thumb_offset", _ONLY_REEL, ("video",)),
    ),
)

# Source: developers.facebook.com (development/create-an-app/instagram-use-case, instagram-platform/app-review).
SETUP = ConnectionPrerequisites(
    {"oauth": "Their sign-in at Instagram, with a professional account (business or creator)."},
    (
        PlatformApplication(
            connects=gettext_noop("professional Instagram accounts"),
            portal="https://developers.facebook.com/apps",
            products=(
                gettext_noop("The use case Manage messaging and content on Instagram, set up with Instagram Login."),
                gettext_noop("The redirect address, in its settings of the business login."),
            ),
            scopes=SCOPES,
            settings=("INSTAGRAM_CLIENT_ID", "INSTAGRAM_CLIENT_SECRET"),
            more_settings=("INSTAGRAM_SCOPES", "INSTAGRAM_API_VERSION"),
            review=gettext_noop(
                "Meta's App Review of each permission, for Advanced Access, and the verification of the operator's business."
            ),
            without_review=gettext_noop("Accounts of people who have a role on the app can be connected."),
            notes=(
                gettext_noop(
                    "The settings are the Instagram app's own id and secret, which differ from those of the Meta app."
                ),
                gettext_noop("Instagram fetches files from BASE_URL, which must be reachable from the internet."),
                gettext_noop("An account may publish 100 posts in 24 hours, some accounts fewer."),
            ),
        ),
    ),
)
