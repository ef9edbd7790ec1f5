"""Threads' capabilities: limits and options for posts, and where the operator's app is registered at Meta.

500 characters, where an emoji counts by its bytes in UTF-8, and at most five different links in a post. A carousel mixes up
to 20 images and videos, which Threads fetches itself. A profile may publish 250 posts and 1,000 replies in 24 hours. Sources:
developers.facebook.com/docs/threads (overview, publishing reference, text attachments, reply management).
"""

from __future__ import annotations

from django.utils.translation import gettext_noop

from accounts.platforms.counting import find_link_spans, threads_platform_length
from accounts.platforms.operator_setup import ConnectionPrerequisites, PlatformApplication
from accounts.platforms.option_media import OptionMediaRule
from accounts.platforms.schemas import object_schema
from accounts.platforms.thread_option import thread_texts_schema
from accounts.platforms.thread_rules import ThreadRules
from accounts.platforms.types import Capabilities, ImageRules, MediaRules, PostingPace, TextRules, VideoRules

THREAD = ThreadRules(max_segments=25)  # a limit of this service; Threads has none
SCOPES = ("threads_basic", "threads_content_publish", "threads_manage_replies", "threads_read_replies")
MAX_LINKS = 5


def count_different_links(text: str) -> int:
    """Count the different links in a text for the limit in Threads' capabilities; domains without https:// are links too."""
    return len({text[start:end] for start, end in find_link_spans(text)})


CAPABILITIES = Capabilities(
    text=TextRules(
        max_length=500,
        counted_as="characters_emoji_bytes",
        count=threads_platform_length,
        additional_limits=(("links", MAX_LINKS, count_different_links),),
    ),
    media=MediaRules(
        max_count=20,
        mixed=True,
        images=ImageRules(mime_types=("image/jpeg", "image/png"), max_bytes=8_000_000, max_count=20, max_ratio=10.0),
        videos=VideoRules(
            mime_types=("video/mp4", "video/quicktime"), max_bytes=1_000_000_000, max_duration_seconds=300, max_count=20
        ),
        alt_text_max_length=1000,
    ),
    features=(
        "text",
        "links",
        "link_cards",
        "mentions",
        "hashtags",
        "images",
        "video",
        "alt_text",
        "threads",
        "reply_settings",
    ),
    retry_safety="verifiable",
    link_preview="platform",
    not_possible=(
        gettext_noop("GIFs are not possible."),
        gettext_noop("A link preview cannot be combined with pictures or videos."),
        gettext_noop("Only the first post of a thread can carry pictures or videos."),
        gettext_noop("More than one topic for a post is not possible."),
        gettext_noop("Polls are not possible."),
        gettext_noop("Posts of other profiles cannot be replied to, reposted or quoted."),
    ),
    option_media=(OptionMediaRule("link_attachment", gettext_noop("A Threads post with media shows no link below it.")),),
    options=object_schema(
        reply_control={
            "type": "string",
            "description": gettext_noop("Who may reply; everybody by default."),
            "enum": ["everyone", "accounts_you_follow", "mentioned_only", "parent_post_author_only", "followers_only"],
        },
        topic_tag={
            "type": "string",
            "description": gettext_noop("The post's topic, without a full stop or an ampersand."),
            "pattern": r"^[^.&]+$",
            "minLength": 1,
            "maxLength": 50,
        },
        link_attachment={
            "type": "string",
            "description": gettext_noop(
                "The link that is previewed below a post of text alone; the text's first link by default."
            ),
            "pattern": r"^https?://[^\s]+$",
            "maxLength": 2000,
        },
        thread=thread_texts_schema(THREAD),
    ),
    pace=PostingPace(seconds=432, burst=50),
    thread=THREAD,
)

# Source: developers.facebook.com (threads/get-started).
SETUP = ConnectionPrerequisites(
    {"oauth": "Their sign-in at Threads."},
    (
        PlatformApplication(
            connects=gettext_noop("Threads profiles"),
            portal="https://developers.facebook.com/apps",
            products=(
                gettext_noop("The use case Access the Threads API, with the permissions that are listed under the scopes."),
                gettext_noop("The redirect address, in its settings, as a redirect callback URL."),
            ),
            scopes=SCOPES,
            settings=("THREADS_CLIENT_ID", "THREADS_CLIENT_SECRET"),
            more_settings=("THREADS_SCOPES",),
            review=gettext_noop("Meta's App Review of each permission."),
            without_review=gettext_noop("Profiles that are added to the app as Threads testers can be connected."),
            notes=(
                gettext_noop(
                    "The settings are the Threads app's own id and secret, which differ from those of the Meta app."
                ),
                gettext_noop("Threads fetches files from BASE_URL, which must be reachable from the internet."),
                gettext_noop("A profile may publish 250 posts and 1,000 replies in 24 hours."),
            ),
        ),
    ),
)
