"""LinkedIn's capabilities: its limits and options for posts of members and pages.

3,000 characters before escaping; up to 20 images, or one video, or one document. A link in the text is clickable and has no
card: the API fetches no pages, so the option `article` describes a card. A comment needs a scope of its own. Sources:
learn.microsoft.com/linkedin (Posts, Images, Videos, Documents and Comments APIs); the sizes of files and the posts a day are
those that integrators publish, since LinkedIn names none.
"""

from __future__ import annotations

from dataclasses import replace

from django.utils.translation import gettext_noop

from accounts.platforms.counting import code_point_length
from accounts.platforms.linkedin.accounts import is_page_urn
from accounts.platforms.option_media import OptionMediaRule
from accounts.platforms.schemas import object_schema
from accounts.platforms.types import (
    AccountLimitsAndScopes,
    Capabilities,
    FileLimits,
    ImageRules,
    MediaRules,
    PostingPace,
    TextRules,
    VideoRules,
)

MAX_COMMENT_LENGTH = 1250
FIRST_COMMENT = "first_comment"
MEMBER_COMMENT_SCOPE, PAGE_COMMENT_SCOPE = "w_member_social_feed", "w_organization_social_feed"

CAPABILITIES = Capabilities(
    text=TextRules(max_length=3000, counted_as="characters", count=code_point_length),
    media=MediaRules(
        max_count=20,
        images=ImageRules(
            mime_types=("image/jpeg", "image/png", "image/gif"), max_bytes=5_000_000, max_count=20, max_pixels=36_152_319
        ),
        videos=VideoRules(
            mime_types=("video/mp4",), max_bytes=500_000_000, min_duration_seconds=3, max_duration_seconds=1800
        ),
        documents=FileLimits(mime_types=("application/pdf",), max_bytes=100_000_000),
        alt_text_max_length=4086,
    ),
    features=(
        "text",
        "links",
        "link_cards",
        "mentions",
        "hashtags",
        "images",
        "gifs",
        "video",
        "documents",
        "alt_text",
        "visibility",
        FIRST_COMMENT,
    ),
    # LinkedIn accepts no idempotency key, and most apps may not read what a member has posted.
    retry_safety="at_most_once",
    link_preview="options",
    not_possible=(
        gettext_noop("Pictures, a video and a document cannot be mixed in one post."),
        gettext_noop("A link in the text gets no card by itself: the post has to say what the card shows."),
        gettext_noop("A link card cannot be combined with media."),
        gettext_noop("Videos and documents cannot have alt text: only pictures can."),
        gettext_noop("The post of a page cannot be limited to connections."),
        gettext_noop("Posts to groups, long articles, newsletters and events are not possible."),
        gettext_noop("Polls are not possible."),
        gettext_noop("The service cannot tell how often a post was seen: LinkedIn shows that to its author."),
    ),
    options=object_schema(
        visibility={
            "type": "string",
            "description": gettext_noop(
                "Who sees the post: everybody (also where it is left out), or a member's connections."
            ),
            "enum": ["PUBLIC", "CONNECTIONS"],
        },
        title={
            "type": "string",
            "description": gettext_noop(
                "The title of the document or the video; a document without one bears its file's name."
            ),
            "minLength": 1,
            "maxLength": 200,
        },
        article={
            "description": gettext_noop("A card that links to a page, below the text; a post with one carries no media."),
            **object_schema(
                ["url", "title"],
                url={
                    "type": "string",
                    "description": gettext_noop("The page, https://…."),
                    "pattern": r"^https?://[^\s]+$",
                    "maxLength": 2000,
                },
                title={"type": "string", "description": gettext_noop("Its title."), "minLength": 1, "maxLength": 400},
                description={"type": "string", "description": gettext_noop("What it is about."), "maxLength": 4000},
            ),
        },
        first_comment={
            "type": "string",
            "description": gettext_noop("A comment that the account leaves below the post once it is out, such as a link."),
            "minLength": 1,
            "maxLength": MAX_COMMENT_LENGTH,
            "pattern": r"\S",
        },
    ),
    option_media=(OptionMediaRule("article", gettext_noop("A LinkedIn post has media or a link card, but not both.")),),
    # A LinkedIn account may publish about 150 posts a day.
    pace=PostingPace(seconds=720, burst=30),
)


def capabilities_for_scopes(account: AccountLimitsAndScopes) -> Capabilities:
    """Return a LinkedIn account's capabilities: first comments only if the owner has granted the OAuth scope for them."""
    scope = PAGE_COMMENT_SCOPE if is_page_urn(account.external_id) else MEMBER_COMMENT_SCOPE
    if not account.scopes or scope in account.scopes:
        return CAPABILITIES
    properties = {name: rule for name, rule in CAPABILITIES.options["properties"].items() if name != FIRST_COMMENT}
    why = (
        f"LinkedIn lets this account comment only with the scope {scope}, which was not granted. Once the service's "
        "application at LinkedIn has that scope, connect the account again."
    )
    return replace(
        CAPABILITIES,
        features=tuple(name for name in CAPABILITIES.features if name != FIRST_COMMENT),
        options={**CAPABILITIES.options, "properties": properties},
        withheld_options={FIRST_COMMENT: why},
    )
