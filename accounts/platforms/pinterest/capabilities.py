"""Pinterest's capabilities: limits and options for pins, and how the operator's app is set up at Pinterest.

A pin has one to five images or a video, and never text alone. The post's text is the pin's description.
Sources: github.com/pinterest/api-description 5.23; developers.pinterest.com (connect app, access tiers, rate limits, product
specifications of images and videos).
"""

from __future__ import annotations

from django.utils.translation import gettext_noop

from accounts.platforms.counting import code_point_length
from accounts.platforms.operator_setup import ConnectionPrerequisites, PlatformApplication
from accounts.platforms.types import Capabilities, ImageRules, MediaRules, PostingPace, TextRules, VideoRules

MAX_IMAGES = 5
SCOPES = ("boards:read", "boards:write", "pins:read", "pins:write", "user_accounts:read")

CAPABILITIES = Capabilities(
    text=TextRules(max_length=800, counted_as="characters", count=code_point_length),
    media=MediaRules(
        max_count=MAX_IMAGES,
        images=ImageRules(mime_types=("image/jpeg", "image/png"), max_bytes=20_000_000, max_count=MAX_IMAGES),
        videos=VideoRules(
            mime_types=("video/mp4", "video/quicktime"),
            max_bytes=2_000_000_000,
            min_duration_seconds=4,
            max_duration_seconds=900,
        ),
        alt_text_max_length=500,
        required=True,
    ),
    features=("text", "links", "hashtags", "images", "video", "alt_text", "titles"),
    retry_safety="at_most_once",
    not_possible=(
        gettext_noop("A post of text alone is not possible."),
        gettext_noop("Pictures and a video cannot be mixed in one pin."),
        gettext_noop("A pin cannot be made without a board, and boards cannot be created here."),
        gettext_noop("Several pictures cannot have an alt text each: Pinterest accepts one for all of them."),
        gettext_noop("WebP and GIF pictures are not possible: only JPEG and PNG."),
        gettext_noop("Product pins and collections are not possible."),
        gettext_noop(
            "Until Pinterest has granted the operator's application Standard access, nobody but the creator sees a pin."
        ),
    ),
    options={
        "type": "object",
        "properties": {
            "board": {
                "type": "string",
                "description": gettext_noop("The board for the pin: its name as Pinterest shows it, or its id."),
                "minLength": 1,
                "maxLength": 180,
            },
            "board_section_id": {
                "type": "string",
                "description": gettext_noop("The id of a section of the board."),
                "maxLength": 32,
                "pattern": "^[0-9]+$",
            },
            "title": {"type": "string", "description": gettext_noop("The pin's title."), "minLength": 1, "maxLength": 100},
            "link": {
                "type": "string",
                "format": "uri",
                "description": gettext_noop("Where the pin leads."),
                "pattern": "^https?://",
                "maxLength": 2048,
            },
            "cover_seconds": {
                "type": "integer",
                "description": gettext_noop("The moment of the video that its cover shows; the beginning by default."),
                "minimum": 0,
                "maximum": 900,
            },
            "cover_image_url": {
                "type": "string",
                "format": "uri",
                "description": gettext_noop("A picture that Pinterest fetches as the video's cover."),
                "pattern": "^https://",
                "maxLength": 2048,
            },
        },
        "required": ["board"],
        "not": {"required": ["cover_seconds", "cover_image_url"]},
        "additionalProperties": False,
    },
    # Pinterest accepts 100 writes per minute of an account; a video needs two.
    pace=PostingPace(seconds=1.5, burst=20),
)

SETUP = ConnectionPrerequisites(
    {"oauth": "Their sign-in at Pinterest."},
    (
        PlatformApplication(
            connects=gettext_noop("Pinterest accounts"),
            portal="https://developers.pinterest.com/apps",
            products=(gettext_noop("The redirect address, as a redirect URI."),),
            scopes=SCOPES,
            settings=("PINTEREST_CLIENT_ID", "PINTEREST_CLIENT_SECRET"),
            review=gettext_noop(
                "Pinterest approves the app for Trial access, and for Standard access after a video that shows how owners "
                "connect and how the app creates pins."
            ),
            without_review=gettext_noop(
                "With Trial access nobody but the creator sees a pin. Pinterest may also refuse it and name its sandbox."
            ),
        ),
    ),
)
