"""Telegram's capabilities: limits and options for messages of bots, and what owners need to connect a chat.

Source: core.telegram.org/bots and /bots/api, and the constants of its libraries.
"""

from __future__ import annotations

from django.utils.translation import gettext_noop

from accounts.platforms.counting import code_point_length, utf16_length
from accounts.platforms.operator_setup import ConnectionPrerequisites
from accounts.platforms.poll_rules import PollRules
from accounts.platforms.polls import poll_schema
from accounts.platforms.schemas import object_schema
from accounts.platforms.types import (
    Capabilities,
    FileLimits,
    ImageRules,
    MediaRules,
    PostingPace,
    TextRules,
    VideoRules,
)

MAX_MESSAGE_ID = 2**31 - 1
POLL = PollRules(
    max_choices=12,
    max_choice_length=100,
    counted_as="characters",
    count=code_point_length,
    min_duration_minutes=1,  # 5 seconds, rounded up to a minute
    max_duration_minutes=43_800,  # 2,628,000 seconds
    min_choices=1,
    open_ended=True,
    switches={
        "multiple": gettext_noop("Whether a voter may choose several answers."),
        "anonymous": gettext_noop(
            "Whether nobody sees who voted for what, which is the default; channels accept no other polls."
        ),
    },
)

CAPABILITIES = Capabilities(
    # The limits are for the text without markup; the text with its markup is never shorter.
    text=TextRules(
        max_length=4096, counted_as="utf16", count=utf16_length, max_length_with_media=1024, max_length_with_poll=300
    ),
    media=MediaRules(
        max_count=10,
        mixed=True,  # photos with videos; messages.build rejects other combinations
        images=ImageRules(
            mime_types=("image/jpeg", "image/png", "image/webp"),
            max_bytes=10_000_000,
            max_count=10,
            max_side_sum=10_000,
            min_ratio=1 / 20,
            max_ratio=20,
        ),
        videos=VideoRules(mime_types=("video/mp4",), max_bytes=50_000_000, max_count=10),
        gifs=ImageRules(mime_types=("image/gif",), max_bytes=50_000_000, max_count=1),
        documents=FileLimits(mime_types=("application/pdf",), max_bytes=50_000_000, max_count=10),
        max_total_bytes=50_000_000,  # an album is uploaded in one request
    ),
    features=("text", "links", "mentions", "hashtags", "images", "gifs", "video", "documents", "polls"),
    retry_safety="at_most_once",
    link_preview="platform",
    not_possible=(
        gettext_noop("A bot cannot post in a person's name, nor to a chat that it is not a member of."),
        gettext_noop(
            "A moving GIF cannot be combined with other files, nor can documents be combined with pictures or videos."
        ),
        gettext_noop("Buttons below a message are not possible."),
        gettext_noop("Stories are not possible."),
        gettext_noop("Alt text is not possible."),
    ),
    options=object_schema(
        parse_mode={
            "type": "string",
            "description": gettext_noop("How the text is marked up. Without it, the text is shown as it is written."),
            "enum": ["HTML", "MarkdownV2"],
        },
        disable_notification={"type": "boolean", "description": gettext_noop("Whether the message arrives without a sound.")},
        protect_content={
            "type": "boolean",
            "description": gettext_noop("Whether readers are prevented from forwarding and saving the message."),
        },
        link_preview={
            "type": "boolean",
            "description": gettext_noop("Whether a preview of the first link is shown, which is the default."),
        },
        message_thread_id={
            "type": "integer",
            "description": gettext_noop("The topic of a forum; without it, the general one."),
            "minimum": 1,
            "maximum": MAX_MESSAGE_ID,
        },
        reply_to_message_id={
            "type": "integer",
            "description": gettext_noop("The message of the same chat that is replied to."),
            "minimum": 1,
            "maximum": MAX_MESSAGE_ID,
        },
        poll=poll_schema(POLL),
    ),
    # Telegram allows one message a second in a chat, with short bursts, and 20 a minute in a group.
    pace=PostingPace(seconds=3, burst=3),
    poll=POLL,
)

CREDENTIALS_SCHEMA = object_schema(
    ["bot_token", "chat_id"],
    bot_token={
        "type": "string",
        "title": gettext_noop("Bot token"),
        "writeOnly": True,
        "description": gettext_noop("The bot's token from @BotFather: digits, a colon, letters."),
        "pattern": "^[0-9]+:[A-Za-z0-9_-]+$",
        "maxLength": 256,
    },
    chat_id={
        "type": "string",
        "title": gettext_noop("Chat"),
        "description": gettext_noop(
            "The chat to post to: @channelname, or the chat's id, such as -1001234567890. "
            "The bot must be an administrator of a channel."
        ),
        "pattern": "^(@[A-Za-z0-9_]+|-?[0-9]+)$",
        "maxLength": 64,
    },
)

# The operator registers nothing: owners connect bots of their own.
SETUP = ConnectionPrerequisites(
    {
        "credentials": "The token of a bot, which they create with @BotFather, and the chat's name or id. The bot has "
        "to be an administrator of a channel, or a member of a group."
    }
)
