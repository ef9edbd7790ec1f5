"""Facebook's capabilities: limits and options for posts of a page, and where the operator's app is registered at Meta.

63,206 characters; up to ten photos, or one video. Photos have alt texts, of undocumented length. A reel is a video of 3 to
90 seconds, a story a photo or a video of up to 60 seconds; a story shows no text and has no comments. A page may publish 30
reels in 24 hours (reel_limit.py). Facebook removes mentions such as @[page id] from a text without an error.
Sources: developers.facebook.com, pages-api/posts, video-api/guides/reels-publishing and page-stories-api; lengths and
file sizes are those that clients observed.
"""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.counting import code_point_length
from accounts.platforms.operator_setup import ConnectionPrerequisites, PlatformApplication
from accounts.platforms.option_media import OptionMediaRule
from accounts.platforms.schemas import object_schema
from accounts.platforms.types import Capabilities, ImageRules, MediaRules, TextRules, VideoRules

REQUIRED_SCOPES = ("pages_show_list", "pages_read_engagement", "pages_manage_posts")  # required for publishing
# The scopes that are requested by default: the further ones are for comments and for the pages of businesses.
SCOPES = (*REQUIRED_SCOPES, "pages_manage_engagement", "business_management")

OPTIONS: dict[str, Any] = {
    **object_schema(
        post_type={
            "type": "string",
            "description": gettext_noop(
                "What the media become: a post (the default), a reel (one video of 3 to 90 seconds, "
                "30 of them in 24 hours) or a story (one photo, or one video of up to 60 seconds; it shows no text)."
            ),
            "enum": ["post", "reel", "story"],
        },
        link={
            "type": "string",
            "description": gettext_noop("A URL that the post shows with a preview; for posts without media."),
            "pattern": "^https?://[^\\s]+$",
            "maxLength": 2048,
        },
        title={
            "type": "string",
            "description": gettext_noop("The title of a video or reel."),
            "minLength": 1,
            "maxLength": 255,
        },
        first_comment={
            "type": "string",
            "description": gettext_noop(
                "A comment that the page adds to its post at once. If it fails, the post stays published, with a note."
            ),
            "minLength": 1,
            "maxLength": 8000,
            "pattern": "\\S",
        },
    ),
    "if": {"properties": {"post_type": {"const": "story"}}, "required": ["post_type"]},
    "then": {"properties": {"link": False, "title": False, "first_comment": False}},
}

CAPABILITIES = Capabilities(
    text=TextRules(max_length=63_206, counted_as="characters", count=code_point_length),
    media=MediaRules(
        max_count=10,
        images=ImageRules(mime_types=("image/jpeg", "image/png"), max_bytes=4_000_000, max_count=10),
        videos=VideoRules(mime_types=("video/mp4", "video/quicktime"), max_bytes=1_000_000_000, max_duration_seconds=14_400),
    ),
    features=("text", "links", "hashtags", "images", "video", "alt_text", "reels", "stories", "first_comment"),
    retry_safety="verifiable",
    link_preview="options",
    not_possible=(
        gettext_noop("Personal profiles and groups cannot be posted to: only pages."),
        gettext_noop("Pictures and a video cannot be mixed in one post."),
        gettext_noop("Moving GIFs are not possible."),
        gettext_noop("A link preview cannot be combined with pictures or a video."),
        gettext_noop("People and pages cannot be mentioned: Facebook removes the mention from the text."),
        gettext_noop("A story shows no text and has neither a link nor a first comment."),
        gettext_noop("Polls are not possible."),
        gettext_noop("A scheduled post is not shown in Facebook's own planner: this service stores it until its time."),
    ),
    options=OPTIONS,
    option_media=(
        OptionMediaRule(
            "post_type",
            gettext_noop("A reel is one video of 3 to 90 seconds."),
            ("video",),
            value="reel",
            min_seconds=3,
            max_seconds=90,
        ),
        OptionMediaRule(
            "post_type",
            gettext_noop("A story is one photo, or one video of 3 to 60 seconds."),
            ("image", "video"),
            value="story",
            min_seconds=3,
            max_seconds=60,
        ),
        OptionMediaRule("link", gettext_noop("Facebook shows a link with a preview, or media.")),
        OptionMediaRule("title", gettext_noop("Only a video has a title."), ("video",)),
    ),
)

# Source: developers.facebook.com (pages-api/create-an-app, graph-api/overview/access-levels).
SETUP = ConnectionPrerequisites(
    {"oauth": "Their sign-in at Facebook, and a role on the page that may create content."},
    (
        PlatformApplication(
            connects=gettext_noop("Facebook pages"),
            portal="https://developers.facebook.com/apps",
            products=(
                gettext_noop(
                    "The use case Manage everything on your Page, with the permissions that are listed under the scopes."
                ),
                gettext_noop("Facebook Login for Business, with the redirect address as a valid OAuth redirect URI."),
            ),
            scopes=SCOPES,
            settings=("FACEBOOK_CLIENT_ID", "FACEBOOK_CLIENT_SECRET"),
            more_settings=("FACEBOOK_SCOPES", "FACEBOOK_API_VERSION"),
            review=gettext_noop(
                "Meta's App Review of each permission, for Advanced Access, and the verification of the operator's business."
            ),
            without_review=gettext_noop("People who have a role on the app can connect the pages that they manage."),
            notes=(
                gettext_noop(
                    "Meta keeps each version of its API for about two years. Then FACEBOOK_API_VERSION must be raised."
                ),
            ),
        ),
    ),
)
