"""Discord's capabilities: its limits and options for messages by webhook, and what owners need to connect a channel.

Discord counts code points. The limits for files are those of a server without boosts: 10 MiB each, and 25 MiB in a
request. Source: docs.discord.com (Webhook Resource, Uploading Files, Usernames and Nicknames, Poll Resource).
"""

from __future__ import annotations

from django.utils.translation import gettext_noop

from accounts.platforms.counting import code_point_length
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

MAX_FILES = 10
MAX_FILE_BYTES = 10_485_760
MAX_REQUEST_BYTES = 26_214_400
# For the rest of a request: the text, ten alt texts and the headers of the parts.
RESERVED_BYTES = 65_536
POLL = PollRules(
    max_choices=10,
    max_choice_length=55,
    counted_as="characters",
    count=code_point_length,
    min_duration_minutes=60,
    max_duration_minutes=46_080,  # 32 days
    min_choices=1,
    duration_step_minutes=60,
    with_media=True,  # the documents do not exclude it
    switches={"multiple": gettext_noop("Whether a voter may choose several answers.")},
)

CAPABILITIES = Capabilities(
    text=TextRules(max_length=2000, counted_as="characters", count=code_point_length, max_length_with_poll=300),
    media=MediaRules(
        max_count=MAX_FILES,
        mixed=True,
        images=ImageRules(("image/jpeg", "image/png", "image/gif", "image/webp"), MAX_FILE_BYTES, MAX_FILES),
        videos=VideoRules(("video/mp4", "video/quicktime", "video/webm"), MAX_FILE_BYTES, MAX_FILES),
        gifs=ImageRules(("image/gif",), MAX_FILE_BYTES, MAX_FILES),
        documents=FileLimits(("application/pdf",), MAX_FILE_BYTES, MAX_FILES),
        alt_text_max_length=1024,
        max_total_bytes=MAX_REQUEST_BYTES - RESERVED_BYTES,
    ),
    features=("text", "links", "images", "gifs", "video", "documents", "alt_text", "polls"),
    retry_safety="at_most_once",
    link_preview="platform",
    not_possible=(
        gettext_noop("A message cannot go to a person, or to another channel than the webhook's."),
        gettext_noop("A message cannot reply to another one."),
        gettext_noop("Nobody can be notified by a mention, not even by @everyone."),
        gettext_noop("A message in an announcement channel cannot be passed on to the servers that follow it."),
        gettext_noop("Larger files are not possible, even if the server is boosted."),
        gettext_noop("Buttons and embeds of the post's own are not possible."),
    ),
    options={
        **object_schema(
            username={
                "type": "string",
                "description": gettext_noop(
                    "The name that the message is posted under, instead of the webhook's; it must not contain "
                    "clyde or discord."
                ),
                "minLength": 1,
                "maxLength": 80,
                "not": {"pattern": "[Cc][Ll][Yy][Dd][Ee]|[Dd][Ii][Ss][Cc][Oo][Rr][Dd]"},
            },
            thread_id={
                "type": "string",
                "description": gettext_noop("The id of a thread of the webhook's channel; the message is posted there."),
                "maxLength": 20,
                "pattern": "^[0-9]+$",
            },
            thread_name={
                "type": "string",
                "description": gettext_noop("The title of a new thread; forum and media channels need it or thread_id."),
                "minLength": 1,
                "maxLength": 100,
            },
            suppress_embeds={"type": "boolean", "description": gettext_noop("Whether links have no previews.")},
            suppress_notifications={
                "type": "boolean",
                "description": gettext_noop("Whether nobody is notified of the message."),
            },
            poll=poll_schema(POLL),
        ),
        "not": {"required": ["thread_id", "thread_name"]},
    },
    pace=PostingPace(seconds=2, burst=5),
    poll=POLL,
)

CREDENTIALS_SCHEMA = object_schema(
    ["webhook_url"],
    webhook_url={
        "type": "string",
        "title": gettext_noop("Webhook address"),
        "writeOnly": True,
        "format": "uri",
        "description": gettext_noop(
            "The channel's webhook address, https://discord.com/api/webhooks/…, from the channel's settings, Integrations."
        ),
        "minLength": 1,
        "maxLength": 512,
    },
)

# The operator registers nothing: owners connect their own webhooks.
SETUP = ConnectionPrerequisites(
    {"credentials": "The address of a webhook, which they create in the channel's settings, under Integrations."}
)
