"""Descriptions in plain English of the texts, media and polls that a platform accepts.

They are shown in the dashboard and in docs/platforms.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from accounts.platforms.poll_rules import PollRules
from accounts.platforms.polls import duration_range_in_words
from accounts.platforms.thread_rules import ThreadRules
from accounts.platforms.types import Capabilities, FileTypeAndSizeLimits, ImageRules, MediaRules, TextRules, VideoRules

COUNTING_NOTES = {
    "graphemes": "counted as people see them",
    "characters": "",
    "utf16": "most emoji count as two",
    "weighted": "by the platform's own weights: emoji and many scripts count as two",
    "characters_emoji_bytes": "an emoji counts as several",
    "bytes": "counted in bytes: accents and emoji count as several",
}
RETRY_SAFETY_SENTENCES = {
    "idempotent": "The post is finished. It cannot appear twice.",
    "verifiable": "The service looks for the post, and sends it again only if it is certainly not there. "
    "If nobody can tell, you are asked to look.",
    "at_most_once": "The post is marked as not confirmed, and you are asked to look. It is never sent twice by itself.",
}
LINK_PREVIEW_SENTENCES = {
    "platform": "The platform shows a preview of the page",
    "service": "This service adds a card with the page's title and picture",
    "options": "A card is shown where the post's options say what it holds",
    "none": "No preview of the page is shown",
}
DESCRIBED_FEATURES = re.compile("text|link_cards|images|gifs?|video|documents|alt_text|threads|polls")
FORMAT_NAMES = {"quicktime": "MOV", "webp": "WebP", "webm": "WebM"}


def capabilities_in_words(found: Capabilities) -> list[tuple[str, str]]:
    """Describe what a platform accepts as pairs (label, limits in words), one for each kind of content."""
    more = [feature.replace("_", " ") for feature in found.features if not DESCRIBED_FEATURES.fullmatch(feature)]
    return [
        ("Text", _text(found.text)),
        *_media(found.media),
        *([("Threads", _threads(found.thread))] if found.thread else []),
        *([("Polls", _poll(found.poll))] if found.poll else []),
        ("Links in the text", LINK_PREVIEW_SENTENCES[found.link_preview]),
        *([("Also", ", ".join(more))] if more else []),
        ("When the connection breaks", RETRY_SAFETY_SENTENCES[found.retry_safety]),
    ]


def _threads(rules: ThreadRules) -> str:
    text = f"Up to {rules.max_segments} posts, each a reply to the one before"
    return f"{text}. {rules.unproven}" if rules.unproven else text


def _text(rules: TextRules) -> str:
    with_media, with_images = rules.max_length_with_media, rules.max_length_with_images
    with_poll = rules.max_length_with_poll
    parts = [
        f"Up to {rules.max_length:,} characters",
        COUNTING_NOTES[rules.counted_as],
        f"{with_media:,} beside media" if with_media else "",
        f"{with_images:,} beside images alone" if with_images else "",
        f"{with_poll:,} as the question of a poll" if with_poll else "",
        f"a link counts as {rules.url_length}" if rules.url_length else "",
        *(_most(limit, unit) for unit, limit, _ in rules.additional_limits),
        *(f"{_most(limit, unit)} advised" for unit, limit, _ in rules.advised_limits),
    ]
    return _joined(parts)


def _most(limit: int, unit: str) -> str:
    if limit == 0:
        return f"no {unit}"
    return f"at most {limit:,} {unit.removesuffix('s') if limit == 1 else unit}"


def _media(rules: MediaRules) -> Iterator[tuple[str, str]]:
    """Yield descriptions in words of the media that a platform accepts; nothing if the platform accepts no media."""
    if rules.images:
        yield "Pictures", _images(rules.images)
    if rules.gifs:
        yield "Moving GIFs", _images(rules.gifs)
    if rules.videos:
        yield "Videos", _videos(rules.videos)
    if rules.documents:
        yield "Documents", _files(rules.documents)
    if rules.max_count > 1:
        mixed = "of several kinds" if rules.mixed else "all of one kind"
        yield "In one post", _joined([f"Up to {rules.max_count} files", mixed, _together(rules.max_total_bytes)])
    if rules.required:
        kinds = [("a picture", rules.images), ("a video", rules.videos)]
        yield "Needed", f"A post must have {' or '.join(kind for kind, taken in kinds if taken)}"
    if rules.alt_text_max_length:
        yield "Alt text", f"Up to {rules.alt_text_max_length:,} characters for each file"


def _poll(rules: PollRules) -> str:
    return _joined(
        [
            f"{rules.min_choices} to {rules.max_choices} choices",
            f"up to {rules.max_choice_length} characters each",
            f"open {duration_range_in_words(rules)}",
            "or without an end" if rules.open_ended else "",
            "several answers if you like" if rules.multiple else "one answer",
        ]
    )


def _images(rules: ImageRules) -> str:
    shape = f"{rules.min_ratio:.4g} to " if rules.min_ratio else "at most "
    return _joined(
        [
            _files(rules),
            f"{rules.max_pixels / 1_000_000:.3g} megapixels" if rules.max_pixels else "",
            f"width and height together up to {rules.max_side_sum:,} pixels" if rules.max_side_sum else "",
            f"{shape}{rules.max_ratio:.4g} times as wide as high" if rules.max_ratio else "",
        ]
    )


def _videos(rules: VideoRules) -> str:
    longest, shortest = rules.max_duration_seconds, rules.min_duration_seconds
    return _joined(
        [
            _files(rules),
            f"from {_duration(shortest)}" if shortest else "",
            f"up to {_duration(longest)} long" if longest else "",
        ]
    )


def _files(rules: FileTypeAndSizeLimits) -> str:
    count = "One" if rules.max_count == 1 else f"Up to {rules.max_count}"
    return _joined(
        [f"{count} ({_formats(rules.mime_types)})", f"up to {_size(rules.max_bytes)}{' each' if rules.max_count > 1 else ''}"]
    )


def _formats(mime_types: Iterable[str]) -> str:
    subtypes = [mime_type.partition("/")[2] for mime_type in mime_types]
    return ", ".join(FORMAT_NAMES.get(subtype, subtype.upper()) for subtype in subtypes)


def _together(most: int | None) -> str:
    return f"{_size(most)} together" if most else ""


def _size(count: int) -> str:
    """Return a file size in words, with a decimal or a binary unit, whichever the platform uses."""
    for unit, name in ((10**9, "GB"), (2**30, "GB"), (10**6, "MB"), (2**20, "MB")):
        if count >= unit and count % unit == 0:
            return f"{count // unit:,} {name}"
    return f"{count / 10**6:,.1f} MB"


def _duration(seconds: int) -> str:
    for unit, name in ((3600, "hour"), (60, "minute")):
        if seconds >= unit and seconds % unit == 0:
            return f"{seconds // unit} {name}{'' if seconds == unit else 's'}"
    return f"{seconds} seconds"


def _joined(parts: Iterable[str]) -> str:
    return ", ".join(part for part in parts if part)
