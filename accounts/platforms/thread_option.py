"""The option `thread`, which makes a post a chain of posts: its schema, its validation, and the texts of the segments.

A thread is a post and segments that reply to it one after another. On every platform with threads the option has the format
`[{"text": …}, …]`, which lists the segments after the target's own text. Media and options belong to the first segment,
unless an option's description says that it applies to all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.errors import ContentRejected
from accounts.platforms.issues import Issue, issue_with_hint
from accounts.platforms.schemas import object_schema
from accounts.platforms.text_check import TextCheckCache, length_issues
from accounts.platforms.thread_rules import ThreadRules
from accounts.platforms.types import Capabilities, Content

OPTION_NAME = "thread"
MAX_SEGMENT_LENGTH = 100_000  # the maximum length of a post's text


def thread_texts_schema(rules: ThreadRules) -> dict[str, Any]:
    """Return the JSON Schema of the post option `thread`: a list of further posts, each a reply to the one before.

    `thread_issues` checks the length of each further text.
    """
    return {
        "type": "array",
        "description": gettext_noop("Further posts, each a reply to the one before it and as long as a post may be."),
        "items": object_schema(
            ["text"], text={"type": "string", "description": "The text of the post.", "maxLength": MAX_SEGMENT_LENGTH}
        ),
        "minItems": 1,
        "maxItems": rules.max_segments - 1,
    }


def thread_texts_including_first(content: Content) -> tuple[str, ...]:
    """Return the texts of all posts of a thread, the first post included, from the text and the option `thread` of a post."""
    return content.text, *texts_after_first_segment(content.options)


def texts_after_first_segment(options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the texts of a thread's posts after the first, from the option `thread`; empty if missing or invalid."""
    return tuple(text for _, text in _further(options))


def texts_billed_by_platform(capabilities: Capabilities, text: str, options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the texts of the billed posts: all posts of a thread if the platform bills each one, otherwise the first."""
    rules = capabilities.thread
    if rules is None or not rules.each_billed:
        return (text,)
    return text, *texts_after_first_segment(options)


def thread_issues(
    platform: str, capabilities: Capabilities, text: str, options: Mapping[str, Any], field: str, cached: TextCheckCache
) -> list[Issue]:
    """Return the validation issues of the option `thread`, which adds further posts; `field` is the path of the options.

    The JSON Schema of the options reports values that are not segments, texts that are too long to count, and segments beyond
    the platform's maximum.
    """
    rules = capabilities.thread
    if rules is None:
        return []
    issues, earlier = [], {text}
    for index, segment in _further(options):
        if index >= rules.max_segments - 1 or len(segment) > MAX_SEGMENT_LENGTH:
            continue
        where, subject = f"{field}.{OPTION_NAME}[{index}].text", f"Segment {index + 2}"
        facts: dict[str, Any] = {"subject": subject, "removable": True}
        if not segment.strip():
            advice = "Write a text, or leave the segment out."
            issues.append(issue_with_hint("TEXT_REQUIRED", where, f"{subject} is empty.", "write_text", advice, **facts))
        elif rules.distinct and segment in earlier:
            message = f"{subject} repeats an earlier one, which {platform} refuses."
            advice = "Write another text, or leave the segment out."
            issues.append(issue_with_hint("SEGMENT_REPEATED", where, message, "write_text", advice, **facts))
        issues += length_issues(platform, capabilities.text, segment, where, options, cached, subject=subject)
        earlier.add(segment)
    return issues


def raise_if_platform_would_refuse_thread(content: Content, capabilities: Capabilities, label: str) -> None:
    """Raise ContentRejected before a thread is published if the platform would refuse a post after the first.

    Validation reports the same issues when the post is created, but limits may have changed since then.
    """
    for issue in thread_issues(label, capabilities, content.text, content.options, "options", TextCheckCache()):
        if issue.severity == "error":
            raise ContentRejected(issue.message)


def _further(options: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    """Yield the texts of a thread's posts after the first, from the option `thread`, each with its index."""
    given = options.get(OPTION_NAME)
    for index, segment in enumerate(given if isinstance(given, list) else ()):
        text = segment.get("text") if isinstance(segment, dict) else None
        if isinstance(text, str):
            yield index, text
