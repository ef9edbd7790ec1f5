"""What a Facebook page takes by the Graph API.

63,206 characters; up to ten photos, or one video. Alt text is taken for photos, its length is not stated. A reel is a
video of 3 to 90 seconds, a story a photo or a video of up to 60; a story shows no text and takes no comment. A page
may publish 30 reels in 24 hours (reels.py). Facebook removes mentions such as @[page id] from a text without an error.
Sources: developers.facebook.com, pages-api/posts, video-api/guides/reels-publishing and page-stories-api; lengths and
file sizes are those that clients observed.
"""

from __future__ import annotations

from typing import Any

from accounts.platforms.counting import characters
from accounts.platforms.types import Capabilities, ImageRules, MediaRules, TextRules, VideoRules

# What is asked for, unless the operator says otherwise: without NEEDED nothing can be published, the others serve comments
# and the pages of businesses.
NEEDED = ("pages_show_list", "pages_read_engagement", "pages_manage_posts")
SCOPES = " ".join([*NEEDED, "pages_manage_engagement", "business_management"])

MAX_COMMENT_LENGTH = 8000

OPTIONS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "post_type": {
            "type": "string",
            "description": "What the media become: `post` (where it is left out), `reel` (one video of 3 to 90 seconds, "
            "30 of them in 24 hours) or `story` (one photo, or one video of up to 60 seconds; it shows no text).",
            "enum": ["post", "reel", "story"],
        },
        "link": {
            "type": "string",
            "description": "An address that the post shows with a preview; for posts without media.",
            "pattern": "^https?://[^\\s]+$",
            "maxLength": 2048,
        },
        "title": {"type": "string", "description": "The title of a video or reel.", "minLength": 1, "maxLength": 255},
        "first_comment": {
            "type": "string",
            "description": "A comment that the page makes below its post at once. If it cannot be made, the post stays "
            "published and says so.",
            "minLength": 1,
            "maxLength": MAX_COMMENT_LENGTH,
            "pattern": "\\S",
        },
    },
    "additionalProperties": False,
    "if": {"properties": {"post_type": {"const": "story"}}, "required": ["post_type"]},
    "then": {"properties": {"link": False, "title": False, "first_comment": False}},
}

CAPABILITIES = Capabilities(
    text=TextRules(max_length=63_206, counted_as="characters", count=characters),
    media=MediaRules(
        max_count=10,
        images=ImageRules(mime_types=("image/jpeg", "image/png"), max_bytes=4_000_000, max_count=10),
        videos=VideoRules(
            mime_types=("video/mp4", "video/quicktime"), max_bytes=1_000_000_000, max_duration_seconds=14_400
        ),
    ),
    features=(
        "text",
        "links",
        "hashtags",
        "images",
        "video",
        "alt_text",
        "reels",
        "stories",
        "first_comment",
    ),
    retry_safety="verifiable",
    link_preview="options",
    not_possible=(
        "Personal profiles and groups cannot be posted to: only pages.",
        "Pictures and a video cannot be mixed in one post.",
        "Moving GIFs are not possible.",
        "A link preview cannot be combined with pictures or a video.",
        "People and pages cannot be mentioned: Facebook removes the mention from the text.",
        "A story shows no text and takes neither a link nor a first comment.",
        "Polls are not possible.",
        "A scheduled post is not shown in Facebook's own planner: this service keeps it until its time.",
    ),
    options=OPTIONS,
)
