"""Descriptions of the texts, media and polls that a platform accepts, in the language of the page.

They are shown in the dashboard and, in English, in docs/platforms.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, ngettext_lazy

from accounts.dashboard.amounts import (
    file_size_in_words,
    file_types_in_words,
    localized_number,
    poll_duration_range_in_words,
    seconds_in_words_of_one_unit,
)
from accounts.platforms.poll_rules import PollRules
from accounts.platforms.thread_rules import ThreadRules
from accounts.platforms.types import Capabilities, FileLimits, ImageRules, MediaRules, TextRules, VideoRules

COUNTING_NOTES = {
    "graphemes": gettext_lazy("counted as people see them"),
    "characters": "",
    "utf16": gettext_lazy("most emoji count as two"),
    "weighted": gettext_lazy("by the platform's own weights: emoji and many scripts count as two"),
    "characters_emoji_bytes": gettext_lazy("an emoji counts as several"),
    "bytes": gettext_lazy("counted in bytes: accents and emoji count as several"),
}
# The most of each thing that a text may hold; `limit` decides between singular and plural.
AT_MOST_PHRASES = {
    "bytes": ngettext_lazy("at most %(number)s byte", "at most %(number)s bytes", "limit"),
    "cashtags": ngettext_lazy("at most %(number)s cashtag", "at most %(number)s cashtags", "limit"),
    "hashtags": ngettext_lazy("at most %(number)s hashtag", "at most %(number)s hashtags", "limit"),
    "links": ngettext_lazy("at most %(number)s link", "at most %(number)s links", "limit"),
    "mentions": ngettext_lazy("at most %(number)s mention", "at most %(number)s mentions", "limit"),
}
NONE_ALLOWED_PHRASES = {"angle brackets": gettext_lazy("no angle brackets")}
RETRY_SAFETY_SENTENCES = {
    "idempotent": gettext_lazy("The post is finished. It cannot appear twice."),
    "verifiable": gettext_lazy(
        "The service looks for the post, and sends it again only if it is certainly not there. "
        "If nobody can tell, you are asked to look."
    ),
    "at_most_once": gettext_lazy(
        "The post is marked as not confirmed, and you are asked to look. It is never sent twice by itself."
    ),
}
LINK_PREVIEW_SENTENCES = {
    "platform": gettext_lazy("The platform shows a preview of the page"),
    "service": gettext_lazy("This service adds a card with the page's title and picture"),
    "options": gettext_lazy("A card is shown where the post's options say what it holds"),
    "none": gettext_lazy("No preview of the page is shown"),
}
DESCRIBED_FEATURES = re.compile("text|link_cards|images|gifs?|video|documents|alt_text|threads|polls")
FEATURE_NAMES = {
    "carousels": gettext_lazy("carousels"),
    "content_warning": gettext_lazy("content warning"),
    "first_comment": gettext_lazy("first comment"),
    "formatting": gettext_lazy("formatting"),
    "hashtags": gettext_lazy("hashtags"),
    "languages": gettext_lazy("languages"),
    "links": gettext_lazy("links"),
    "mentions": gettext_lazy("mentions"),
    "privacy": gettext_lazy("privacy"),
    "reels": gettext_lazy("reels"),
    "replies": gettext_lazy("replies"),
    "reply_settings": gettext_lazy("reply settings"),
    "stories": gettext_lazy("stories"),
    "tags": gettext_lazy("tags"),
    "thumbnail": gettext_lazy("thumbnail"),
    "title": gettext_lazy("title"),
    "titles": gettext_lazy("titles"),
    "visibility": gettext_lazy("visibility"),
}


def capabilities_in_words(found: Capabilities) -> list[tuple[str, str]]:
    """Return a platform's capabilities in words, as pairs of a label (such as Polls) and its limits."""
    more = [_feature(feature) for feature in found.features if not DESCRIBED_FEATURES.fullmatch(feature)]
    return [
        (_("Text"), _text(found.text)),
        *_media(found.media),
        *([(_("Threads"), _threads(found.thread))] if found.thread else []),
        *([(_("Polls"), _poll(found.poll))] if found.poll else []),
        (_("Links in the text"), str(LINK_PREVIEW_SENTENCES[found.link_preview])),
        *([(_("Mentions"), _("The composer finds people by name or handle"))] if found.finds_people else []),
        *([(_("Also"), ", ".join(more))] if more else []),
        (_("When the connection breaks"), str(RETRY_SAFETY_SENTENCES[found.retry_safety])),
    ]


def _feature(name: str) -> str:
    return str(FEATURE_NAMES.get(name) or name.replace("_", " "))


def _threads(rules: ThreadRules) -> str:
    text = _("Up to %(number)d posts, each a reply to the one before") % {"number": rules.max_segments}
    return f"{text}. {_(rules.unproven)}" if rules.unproven else text


def _text(rules: TextRules) -> str:
    with_media, with_images = rules.max_length_with_media, rules.max_length_with_images
    with_poll = rules.max_length_with_poll
    parts = [
        _("Up to %(number)s characters") % {"number": localized_number(rules.max_length)},
        COUNTING_NOTES[rules.counted_as],
        _("%(number)s beside media") % {"number": localized_number(with_media)} if with_media else "",
        _("%(number)s beside images alone") % {"number": localized_number(with_images)} if with_images else "",
        _("%(number)s as the question of a poll") % {"number": localized_number(with_poll)} if with_poll else "",
        _("a link counts as %(number)d") % {"number": rules.url_length} if rules.url_length else "",
        *(_most(limit, unit) for unit, limit, _count in rules.additional_limits),
        *(_("%(limit)s advised") % {"limit": _most(limit, unit)} for unit, limit, _count in rules.advised_limits),
    ]
    return _joined(parts)


def _most(limit: int, unit: str) -> str:
    if limit == 0:
        return str(NONE_ALLOWED_PHRASES[unit])
    return str(AT_MOST_PHRASES[unit] % {"limit": limit, "number": localized_number(limit)})


def _media(rules: MediaRules) -> Iterator[tuple[str, str]]:
    """Yield descriptions in words of the media that a platform accepts; nothing if the platform accepts no media."""
    if rules.images:
        yield _("Pictures"), _images(rules.images)
    if rules.gifs:
        yield _("Moving GIFs"), _images(rules.gifs)
    if rules.videos:
        yield _("Videos"), _videos(rules.videos)
    if rules.documents:
        yield _("Documents"), _files(rules.documents)
    if rules.max_count > 1:
        mixed = _("of several kinds") if rules.mixed else _("all of one kind")
        count = _("Up to %(number)d files") % {"number": rules.max_count}
        yield _("In one post"), _joined([count, mixed, _together(rules.max_total_bytes)])
    if rules.required:
        yield _("Needed"), _required(rules)
    if rules.alt_text_max_length:
        most = {"number": localized_number(rules.alt_text_max_length)}
        yield _("Alt text"), _("Up to %(number)s characters for each file") % most


def _required(rules: MediaRules) -> str:
    if rules.images and rules.videos:
        return _("A post must have a picture or a video")
    return _("A post must have a picture") if rules.images else _("A post must have a video")


def _poll(rules: PollRules) -> str:
    return _joined(
        [
            _("%(least)d to %(most)d choices") % {"least": rules.min_choices, "most": rules.max_choices},
            _("up to %(number)d characters each") % {"number": rules.max_choice_length},
            _("open %(range)s") % {"range": poll_duration_range_in_words(rules)},
            _("or without an end") if rules.open_ended else "",
            _("several answers if you like") if rules.allows_multiple_answers else _("one answer"),
        ]
    )


def _images(rules: ImageRules) -> str:
    megapixels = {"number": localized_number(f"{(rules.max_pixels or 0) / 1_000_000:.3g}")}
    side_sum = {"number": localized_number(rules.max_side_sum or 0)}
    return _joined(
        [
            _files(rules),
            _("%(number)s megapixels") % megapixels if rules.max_pixels else "",
            _("width and height together up to %(number)s pixels") % side_sum if rules.max_side_sum else "",
            _shape(rules),
        ]
    )


def _shape(rules: ImageRules) -> str:
    if not rules.max_ratio:
        return ""
    most = localized_number(f"{rules.max_ratio:.4g}")
    if not rules.min_ratio:
        return _("at most %(most)s times as wide as high") % {"most": most}
    least = localized_number(f"{rules.min_ratio:.4g}")
    return _("%(least)s to %(most)s times as wide as high") % {"least": least, "most": most}


def _videos(rules: VideoRules) -> str:
    longest, shortest = rules.max_duration_seconds, rules.min_duration_seconds
    return _joined(
        [
            _files(rules),
            _("from %(duration)s") % {"duration": seconds_in_words_of_one_unit(shortest)} if shortest else "",
            _("up to %(duration)s long") % {"duration": seconds_in_words_of_one_unit(longest)} if longest else "",
        ]
    )


def _files(rules: FileLimits) -> str:
    named = {
        "number": rules.max_count,
        "types": file_types_in_words(rules.mime_types),
        "size": file_size_in_words(rules.max_bytes),
    }
    return (
        ngettext("One (%(types)s), up to %(size)s", "Up to %(number)d (%(types)s), up to %(size)s each", rules.max_count)
        % named
    )


def _together(most: int | None) -> str:
    return _("%(size)s together") % {"size": file_size_in_words(most)} if most else ""


def _joined(parts: Iterable[object]) -> str:
    return ", ".join(str(part) for part in parts if part)
