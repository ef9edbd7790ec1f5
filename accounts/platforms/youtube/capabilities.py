"""YouTube's capabilities: limits and options for videos, and where the operator's project is registered at Google.

A post is one video. Its text is the description: 5,000 bytes, without angle brackets. The title has a hundred characters, and
the tags five hundred together. A channel that is not verified accepts 15 minutes at most. Source:
developers.google.com/youtube/v3 (videos, thumbnails.set).
"""

from __future__ import annotations

from django.utils.translation import gettext_noop

from accounts.platforms.counting import utf8_length
from accounts.platforms.operator_setup import ConnectionPrerequisites, PlatformApplication
from accounts.platforms.schemas import object_schema
from accounts.platforms.types import Capabilities, MediaRules, TextRules, VideoRules

SCOPES = ("https://www.googleapis.com/auth/youtube.upload", "https://www.googleapis.com/auth/youtube.readonly")
MAX_TITLE = 100
MAX_TAGS = 500
MAX_THUMBNAIL_BYTES = 50 * 1024 * 1024
PUBLIC_PRIVACY, PEOPLE_AND_BLOGS = "public", "22"


def count_angle_brackets(text: str) -> int:
    """Count the angle brackets in a YouTube video's text, because YouTube accepts none."""
    return text.count("<") + text.count(">")


def tags_length(tags: list[str]) -> int:
    """Count the characters of tags for the limit in YouTube's capabilities, with commas, and quotes if a tag has spaces."""
    return sum(len(tag) + 2 * (" " in tag) for tag in tags) + max(len(tags) - 1, 0)


CAPABILITIES = Capabilities(
    text=TextRules(
        max_length=5000,
        counted_as="bytes",
        count=utf8_length,
        additional_limits=(("angle brackets", 0, count_angle_brackets),),
    ),
    media=MediaRules(
        max_count=1,
        videos=VideoRules(
            mime_types=("video/mp4", "video/quicktime", "video/webm"), max_bytes=256 * 1024**3, max_duration_seconds=43_200
        ),
        required=True,
    ),
    features=("text", "links", "hashtags", "video", "title", "tags", "privacy", "thumbnail"),
    retry_safety="verifiable",
    not_possible=(
        gettext_noop("A post of text alone is not possible, nor are pictures: every post is one video."),
        gettext_noop("Until Google has audited the operator's application, every video stays private."),
        gettext_noop("A video cannot be marked as a Short: YouTube decides by its length and shape."),
        gettext_noop("Live streams, premieres and community posts are not possible."),
        gettext_noop("Playlists, subtitles and end screens cannot be set."),
        gettext_noop("First comments are not possible."),
        gettext_noop("A scheduled video is not shown in YouTube Studio: this service keeps it until its time."),
    ),
    options=object_schema(
        title={
            "type": "string",
            "description": gettext_noop(
                "The video's title, without angle brackets. Left out, it is the first line of the text, "
                "or the file's name where there is no text."
            ),
            "minLength": 1,
            "maxLength": MAX_TITLE,
            "pattern": r"^\s*[^<>\s][^<>]*$",
        },
        tags={
            "type": "array",
            "description": gettext_noop(
                "Keywords, 500 characters together with the commas between them; one that holds a space counts two more."
            ),
            "items": {"type": "string", "minLength": 1, "maxLength": MAX_TAGS, "pattern": "^[^<>]+$"},
            "maxItems": 250,
        },
        privacy_status={
            "type": "string",
            "description": gettext_noop(
                "Who may see the video; public where it is left out. YouTube keeps what an application "
                "uploads private until Google has audited it."
            ),
            "enum": [PUBLIC_PRIVACY, "unlisted", "private"],
        },
        category_id={
            "type": "string",
            "description": gettext_noop("The number of the video's category; 22 (people and blogs) where it is left out."),
            "maxLength": 3,
            "pattern": "^[0-9]+$",
        },
        made_for_kids={
            "type": "boolean",
            "description": gettext_noop(
                "Whether the video is made for children; the channel's own setting where it is left out."
            ),
        },
        contains_synthetic_media={
            "type": "boolean",
            "description": gettext_noop("Whether it shows altered or synthetic content that seems real."),
        },
        license={
            "type": "string",
            "description": gettext_noop("YouTube's standard licence where it is left out."),
            "enum": ["youtube", "creativeCommon"],
        },
        embeddable={
            "type": "boolean",
            "description": gettext_noop("Whether other sites may show the video; they may by default."),
        },
        language={
            "type": "string",
            "description": gettext_noop("The language of title and description, as a BCP 47 tag."),
            "maxLength": 35,
            "pattern": "^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$",
        },
        notify_subscribers={
            "type": "boolean",
            "description": gettext_noop("Whether the channel's subscribers are notified; they are by default."),
        },
        thumbnail_url={
            "type": "string",
            "description": gettext_noop(
                "Public https address of a JPEG or PNG file, of 50 MiB at most, that becomes the video's "
                "thumbnail. The channel has to be verified for that."
            ),
            "pattern": "^https?://",
            "maxLength": 2048,
        },
    ),
)

# Sources: developers.google.com (youtube/v3/guides/quota_and_compliance_audits, youtube/v3/docs/videos/insert,
# identity/protocols/oauth2) and support.google.com/cloud (OAuth app verification).
SETUP = ConnectionPrerequisites(
    {"oauth": "Their sign-in at Google, with an account that has a YouTube channel."},
    (
        PlatformApplication(
            connects=gettext_noop("YouTube channels"),
            portal="https://console.cloud.google.com",
            products=(
                gettext_noop("A project with the YouTube Data API v3."),
                gettext_noop(
                    "An OAuth consent screen with the scopes. It is published: in testing, access ends after seven days."
                ),
                gettext_noop("An OAuth client of the type Web application, with the redirect address."),
            ),
            scopes=SCOPES,
            settings=("YOUTUBE_CLIENT_ID", "YOUTUBE_CLIENT_SECRET"),
            review=gettext_noop(
                "Google verifies the consent screen, since the scopes are sensitive, and YouTube audits the project."
            ),
            without_review=gettext_noop(
                "Videos stay private. Google warns owners that it has not verified the app, and limits how many "
                "owners may grant access to it."
            ),
            notes=(gettext_noop("A project may upload 100 videos a day. The form of the audit asks for more."),),
        ),
    ),
)
