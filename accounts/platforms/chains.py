"""Threads of posts: the post itself, and further segments that reply to it one after another.

On every platform that knows them they are written alike, as the option `thread`: `[{"text": …}, …]` behind the target's
own text. Media and options are the first segment's, unless the platform's option says that it holds for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from accounts.platforms.errors import ContentRejected
from accounts.platforms.issues import Issue, RepairHint
from accounts.platforms.text_check import CallCache, length_issues
from accounts.platforms.types import Capabilities, Content, ThreadRules

OPTION = "thread"
MAX_SEGMENT_LENGTH = 100_000  # as long as the text of a post may be


def thread_option(rules: ThreadRules) -> dict[str, Any]:
    """The JSON Schema of the option; the platform's own limit for a segment is checked by `thread_issues`."""
    return {
        "type": "array",
        "description": "Further posts, each a reply to the one before it and as long as a post may be.",
        "items": {
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "The text of the post.", "maxLength": MAX_SEGMENT_LENGTH}
            },
            "required": ["text"],
            "additionalProperties": False,
        },
        "minItems": 1,
        "maxItems": rules.max_segments - 1,
    }


def segments(content: Content) -> tuple[str, ...]:
    """The texts that go out as posts of their own, in order."""
    return content.text, *further_texts(content.options)


def further_texts(options: Mapping[str, Any]) -> tuple[str, ...]:
    """The texts of the segments behind the first; none where the option is missing, or no list of segments."""
    return tuple(text for _, text in _further(options))


def billed_texts(capabilities: Capabilities, text: str, options: Mapping[str, Any]) -> tuple[str, ...]:
    """The texts of the posts that a target is charged for: of a thread its first one, or each where the platform bills
    each."""
    rules = capabilities.thread
    if rules is None or not rules.each_billed:
        return (text,)
    return text, *further_texts(options)


def thread_issues(
    platform: str, capabilities: Capabilities, text: str, options: Mapping[str, Any], field: str, cached: CallCache
) -> list[Issue]:
    """What stands against the further segments; `field` is the path of the options, such as `targets[0].options`.

    What the schema of the options refuses is left to it: what is no segment by its form, what is too long to count, and
    segments beyond the most that the platform takes.
    """
    rules = capabilities.thread
    if rules is None:
        return []
    issues, earlier = [], {text}
    for index, segment in _further(options):
        if index >= rules.max_segments - 1 or len(segment) > MAX_SEGMENT_LENGTH:
            continue
        where, subject = f"{field}.{OPTION}[{index}].text", f"Segment {index + 2}"
        if not segment.strip():
            hint = RepairHint("write_text", where, "Write a text, or leave the segment out.")
            issues.append(Issue("TEXT_REQUIRED", "error", where, f"{subject} is empty.", repair_hint=hint))
        elif rules.distinct and segment in earlier:
            hint = RepairHint("write_text", where, "Write another text, or leave the segment out.")
            message = f"{subject} repeats an earlier one, which {platform} refuses."
            issues.append(Issue("SEGMENT_REPEATED", "error", where, message, repair_hint=hint))
        issues += length_issues(platform, capabilities.text, segment, where, options, cached, subject=subject)
        earlier.add(segment)
    return issues


def check(content: Content, capabilities: Capabilities, label: str) -> None:
    """Raise ContentRejected for further segments that the platform would refuse, while nothing is out yet.

    Validation says the same when the post is written; limits may have changed since.
    """
    for issue in thread_issues(label, capabilities, content.text, content.options, "options", CallCache()):
        if issue.severity == "error":
            raise ContentRejected(issue.message)


def _further(options: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    """The texts of the further segments by their place, those that have none left out."""
    given = options.get(OPTION)
    for index, segment in enumerate(given if isinstance(given, list) else ()):
        text = segment.get("text") if isinstance(segment, dict) else None
        if isinstance(text, str):
            yield index, text
