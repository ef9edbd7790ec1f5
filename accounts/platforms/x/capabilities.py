"""X's capabilities: limits and options for posts by API v2, and how the operator's app is set up at X.

A post has at most 280 weighted characters as twitter-text v3 counts them, and up to four images, one GIF or one video.
X bills each segment of a thread, and a post with a URL (any text that X would turn into a link) costs more. Apps may use one
cashtag in a post.

Since February 2026 an app may reply only to an author who mentioned or quoted the account that replies. The documentation
names no exception for an account's own posts, to which the segments of a thread reply, and still advertises threads.
Sources: docs.x.com (manage posts, media best practices, apps, pricing, rate limits) and twitter-text's configuration.
"""

from __future__ import annotations

import re

from django.utils.translation import gettext_noop

from accounts.platforms.counting import URL_LENGTH, code_point_length, has_url_by_x_rules, x_weighted_length
from accounts.platforms.operator_setup import ConnectionPrerequisites, PlatformApplication
from accounts.platforms.poll_rules import PollRules
from accounts.platforms.polls import poll_schema
from accounts.platforms.schemas import object_schema
from accounts.platforms.thread_option import thread_texts_schema
from accounts.platforms.thread_rules import ThreadRules
from accounts.platforms.types import Capabilities, ImageRules, MediaRules, PostingPace, TextRules, VideoRules

THREAD = ThreadRules(
    max_segments=10,
    distinct=True,
    each_billed=True,
    unproven=gettext_noop(
        "Threads have not been tried on X yet. X lets an app reply only to accounts that mention or quote it and names "
        "no exception for your own posts, so it may refuse every post of a thread but the first."
    ),
)
POLL = PollRules(
    max_choices=4,
    max_choice_length=25,
    counted_as="characters",
    count=code_point_length,
    min_duration_minutes=5,
    max_duration_minutes=10_080,
)
SCOPES = ("tweet.read", "tweet.write", "users.read", "media.write", "offline.access")

_CASHTAG = re.compile(r"(?<!\S)\$[A-Za-z]{1,6}(?:[._][A-Za-z]{1,2})?(?!\w)")


def count_cashtags(text: str) -> int:
    """Count the cashtags ($XYZ) in a text for the limit in X's capabilities."""
    return len(_CASHTAG.findall(text))


CAPABILITIES = Capabilities(
    text=TextRules(
        max_length=280,
        counted_as="weighted",
        count=x_weighted_length,
        url_length=URL_LENGTH,
        additional_limits=(("cashtags", 1, count_cashtags),),
    ),
    media=MediaRules(
        max_count=4,
        images=ImageRules(
            mime_types=("image/jpeg", "image/png", "image/gif", "image/webp"), max_bytes=5_242_880, max_count=4
        ),
        gifs=ImageRules(mime_types=("image/gif",), max_bytes=15 * 1024 * 1024, max_count=1, max_pixels=1280 * 1080),
        videos=VideoRules(mime_types=("video/mp4", "video/quicktime"), max_bytes=512 * 1024 * 1024, max_duration_seconds=140),
        alt_text_max_length=1000,
    ),
    features=(
        "text",
        "links",
        "mentions",
        "hashtags",
        "images",
        "gifs",
        "video",
        "alt_text",
        "threads",
        "polls",
        "reply_settings",
    ),
    retry_safety="verifiable",
    link_preview="platform",
    not_possible=(
        gettext_noop("Pictures, a GIF and a video cannot be mixed in one post."),
        gettext_noop("The longer texts and videos of Premium accounts are not possible."),
        gettext_noop("Only the first post of a thread can carry media."),
        gettext_noop("More than one cashtag, such as $ABC, is not possible in one post."),
        gettext_noop("Posts of other accounts cannot be replied to, reposted or quoted."),
        gettext_noop("Posts to communities are not possible."),
    ),
    options=object_schema(
        reply_settings={
            "type": "string",
            "description": gettext_noop(
                "Who may reply: accounts that are followed, mentioned, subscribed or verified. Everybody by default."
            ),
            "enum": ["following", "mentionedUsers", "subscribers", "verified"],
        },
        made_with_ai={"type": "boolean", "description": gettext_noop("Label the post as made with AI.")},
        paid_partnership={"type": "boolean", "description": gettext_noop("Label the post as a paid promotion.")},
        thread=thread_texts_schema(THREAD),
        poll=poll_schema(POLL),
    ),
    links_url=has_url_by_x_rules,
    # X accepts 100 posts of an account in 15 minutes and 300 in three hours.
    pace=PostingPace(seconds=40, burst=30),
    thread=THREAD,
    poll=POLL,
)

SETUP = ConnectionPrerequisites(
    {"oauth": "Their sign-in at X."},
    (
        PlatformApplication(
            connects=gettext_noop("X accounts"),
            portal="https://console.x.com",
            products=(
                gettext_noop(
                    "User authentication by OAuth 2.0, with the type Web App or Automated App, "
                    "which are confidential clients."
                ),
                gettext_noop("The redirect address, as a callback URL."),
                gettext_noop("Credits: X accepts no posts from an app without them."),
            ),
            scopes=SCOPES,
            settings=("X_CLIENT_ID", "X_CLIENT_SECRET"),
            notes=(
                gettext_noop(
                    "X bills the operator for each post: 0.015 US dollars, or 0.200 with a link (prices of April 2026)."
                ),
                gettext_noop("Each post of a thread is billed. PRICE_LIST sets what this service charges for it."),
                gettext_noop(
                    "X may bill reads of accounts, so their pictures are updated only when they are connected or checked."
                ),
                gettext_noop("All accounts of an app together may publish 10,000 posts in 24 hours."),
            ),
        ),
    ),
)
