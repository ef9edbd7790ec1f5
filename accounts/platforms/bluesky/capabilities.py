"""Bluesky's capabilities: its limits and options for posts, and what owners need to connect an account.

Sources: the lexicons app.bsky.feed.post and app.bsky.embed.*, Bluesky's clients, and docs.bsky.app (app passwords).
"""

from __future__ import annotations

from django.utils.translation import gettext_noop

from accounts.platforms.counting import grapheme_length, utf8_length
from accounts.platforms.link_cards import LINK_CARD_SCHEMA
from accounts.platforms.operator_setup import ConnectionPrerequisites
from accounts.platforms.schemas import object_schema
from accounts.platforms.thread_option import thread_texts_schema
from accounts.platforms.thread_rules import ThreadRules
from accounts.platforms.types import Capabilities, ImageRules, MediaRules, PostingPace, TextRules, VideoRules

THREAD = ThreadRules(max_segments=25)  # a limit of this service; Bluesky has none

CAPABILITIES = Capabilities(
    text=TextRules(
        max_length=300, counted_as="graphemes", count=grapheme_length, additional_limits=(("bytes", 3000, utf8_length),)
    ),
    media=MediaRules(
        max_count=4,
        images=ImageRules(
            mime_types=("image/jpeg", "image/png", "image/webp", "image/gif"), max_bytes=2_000_000, max_count=4
        ),
        # The limit of the video service for one request; the lexicon allows three times as much.
        videos=VideoRules(mime_types=("video/mp4",), max_bytes=100_000_000, max_duration_seconds=180),
        alt_text_max_length=2000,  # the clients' limit; the lexicon has none
    ),
    features=("text", "links", "link_cards", "mentions", "hashtags", "languages", "images", "video", "alt_text", "threads"),
    retry_safety="idempotent",
    link_preview="service",
    finds_people=True,
    not_possible=(
        gettext_noop("A published post cannot be edited."),
        gettext_noop("Pictures and a video cannot be mixed in one post."),
        gettext_noop("A GIF does not move: it is shown as a still picture."),
        gettext_noop("A link card cannot be combined with pictures or a video."),
        gettext_noop("Only the first post of a thread can carry pictures or a video."),
        gettext_noop("Polls are not possible."),
        gettext_noop("Who may reply to a post cannot be chosen."),
    ),
    options=object_schema(
        langs={
            "type": "array",
            "description": gettext_noop("The languages of the text and its thread, as BCP 47 tags such as en or pt-BR."),
            "items": {"type": "string", "maxLength": 35, "pattern": "^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$"},
            "maxItems": 3,
        },
        link_card=LINK_CARD_SCHEMA,
        thread=thread_texts_schema(THREAD),
    ),
    pace=PostingPace(seconds=2.16, burst=1600),  # 5,000 points in an hour, three for each record
    thread=THREAD,
)

# Operators register nothing.
SETUP = ConnectionPrerequisites({"credentials": "Their handle and an app password, which they make in Bluesky's settings."})
CREDENTIALS_SCHEMA = object_schema(
    ["identifier", "app_password"],
    identifier={
        "type": "string",
        "title": gettext_noop("Handle or e-mail address"),
        "description": gettext_noop("The account's handle, such as alice.bsky.social, its e-mail address or its DID."),
        "minLength": 1,
        "maxLength": 512,
    },
    app_password={
        "type": "string",
        "title": gettext_noop("App password"),
        "writeOnly": True,
        "description": gettext_noop("An app password, made in Bluesky's settings. The account's own password is refused."),
        "minLength": 1,
        "maxLength": 256,
    },
    service={
        "type": "string",
        "title": gettext_noop("Server"),
        "format": "uri",
        "description": gettext_noop(
            "The https address of the account's server, for accounts that are not at Bluesky itself."
        ),
        "minLength": 1,
        "maxLength": 512,
    },
)
