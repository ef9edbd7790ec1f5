"""TikTok's capabilities: limits and options for posts by the Content Posting API v2, and where the app is registered.

A post is one video, or up to 35 photos. Its text is the video's caption, 2,200 UTF-16 units, or the photos' description,
4,000. The service asks TikTok right before each post what the creator may post, how long and for whom; a post must say who
may see it. Source: developers.tiktok.com (direct post, photo post, media transfer).
"""

from __future__ import annotations

from django.utils.translation import gettext_noop

from accounts.platforms.counting import utf16_length
from accounts.platforms.operator_setup import ConnectionPrerequisites, PlatformApplication
from accounts.platforms.schemas import object_schema
from accounts.platforms.types import Capabilities, ImageRules, MediaRules, PostingPace, TextRules, VideoRules

SCOPES = ("user.info.basic", "video.publish")
PUBLIC_PRIVACY = "PUBLIC_TO_EVERYONE"
MAX_PHOTOS = 35

CAPABILITIES = Capabilities(
    text=TextRules(max_length=2200, counted_as="utf16", count=utf16_length, max_length_with_images=4000),
    media=MediaRules(
        max_count=MAX_PHOTOS,
        images=ImageRules(mime_types=("image/jpeg", "image/webp"), max_bytes=20_000_000, max_count=MAX_PHOTOS),
        videos=VideoRules(
            mime_types=("video/mp4", "video/quicktime", "video/webm"),
            max_bytes=4_000_000_000,
            max_duration_seconds=600,
            min_duration_seconds=3,
        ),
        required=True,
    ),
    features=("text", "mentions", "hashtags", "images", "video", "privacy"),
    retry_safety="verifiable",
    not_possible=(
        gettext_noop("A post of text alone is not possible."),
        gettext_noop("Photos and a video cannot be mixed in one post."),
        gettext_noop("Until TikTok has audited the operator's application, a post can be seen by its creator alone."),
        gettext_noop("Drafts in TikTok's inbox are not possible: a post is published at once."),
        gettext_noop("PNG and GIF pictures are not possible: only JPEG and WebP."),
        gettext_noop("A sound from TikTok's library cannot be chosen."),
        gettext_noop("First comments and alt text are not possible."),
    ),
    options=object_schema(
        ["privacy_level"],
        privacy_level={
            "type": "string",
            "description": gettext_noop(
                "Who may see the post; there is no default. Public accounts can post to everybody, to friends and to "
                "themselves, private ones to followers instead of everybody. A service that TikTok has not audited can only "
                "post to the account itself."
            ),
            "enum": [PUBLIC_PRIVACY, "MUTUAL_FOLLOW_FRIENDS", "FOLLOWER_OF_CREATOR", "SELF_ONLY"],
        },
        disable_comment={
            "type": "boolean",
            "description": gettext_noop("Whether nobody may comment; also where the creator's own settings say so."),
        },
        disable_duet={
            "type": "boolean",
            "description": gettext_noop(
                "Videos: whether nobody may make a duet; also where the creator's own settings say so."
            ),
        },
        disable_stitch={
            "type": "boolean",
            "description": gettext_noop(
                "Videos: whether nobody may stitch it; also where the creator's own settings say so."
            ),
        },
        cover_timestamp_ms={
            "type": "integer",
            "description": gettext_noop("Videos: the frame that becomes the cover, in milliseconds from the start."),
            "minimum": 0,
            "maximum": 600_000,
        },
        is_aigc={"type": "boolean", "description": gettext_noop("Videos: label the post as made with AI.")},
        brand_content_toggle={
            "type": "boolean",
            "description": gettext_noop("Label the post as a paid partnership that promotes another business."),
        },
        brand_organic_toggle={
            "type": "boolean",
            "description": gettext_noop("Label the post as one that promotes the creator's own business."),
        },
        title={
            "type": "string",
            "description": gettext_noop("Photos: a title above the text."),
            "minLength": 1,
            "maxLength": 90,
        },
        auto_add_music={"type": "boolean", "description": gettext_noop("Photos: let TikTok add music.")},
        photo_cover_index={
            "type": "integer",
            "description": gettext_noop("Photos: which one is the cover, counted from 0; the first where it is left out."),
            "minimum": 0,
            "maximum": MAX_PHOTOS - 1,
        },
    ),
    pace=PostingPace(seconds=15, burst=2),  # six posts a minute for each creator
)

# Source: developers.tiktok.com (Content Posting API: get started, content sharing guidelines, media transfer guide).
SETUP = ConnectionPrerequisites(
    {"oauth": "Their sign-in at TikTok."},
    (
        PlatformApplication(
            connects=gettext_noop("TikTok accounts"),
            portal="https://developers.tiktok.com/apps",
            products=(
                gettext_noop("Login Kit, with the redirect address. It has to be https."),
                gettext_noop("Content Posting API, with Direct Post switched on."),
                gettext_noop(
                    "BASE_URL verified as a URL prefix, if photos are to go out. TIKTOK_VERIFIED_PREFIX names that prefix."
                ),
            ),
            scopes=SCOPES,
            settings=("TIKTOK_CLIENT_ID", "TIKTOK_CLIENT_SECRET"),
            more_settings=("TIKTOK_VERIFIED_PREFIX", "TIKTOK_PKCE"),
            review=gettext_noop("TikTok approves the app and its scopes, and then audits how it posts."),
            without_review=gettext_noop(
                "A post can be seen by its creator alone (privacy_level SELF_ONLY). The account has to be "
                "private, and five accounts at most may post in 24 hours."
            ),
            notes=(gettext_noop("What TikTok calls the client key is TIKTOK_CLIENT_ID."),),
        ),
    ),
)
