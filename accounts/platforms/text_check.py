"""Validation of a text's length against a platform's TextRules, for posts, threads and dashboard pages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Any, TypeVar

from accounts.platforms.counting import cut_to_limit
from accounts.platforms.issues import Issue, issue_with_hint
from accounts.platforms.polls import poll_in_options
from accounts.platforms.types import MediaKind, TextRules

Result = TypeVar("Result")


class TextCheckCache:
    """Cache of the calls that check a text, so that the same text is not counted or cut twice in a validation."""

    def __init__(self) -> None:
        self._results: dict[tuple[Hashable, ...], Any] = {}

    def __call__(self, function: Callable[..., Result], *arguments: Hashable) -> Result:
        call = (function, *arguments)
        if call not in self._results:
            self._results[call] = function(*arguments)
        result: Result = self._results[call]
        return result


def text_limit(rules: TextRules, options: Mapping[str, Any], media: Collection[MediaKind] = ()) -> int:
    """Return the maximum length against which a post's text is checked, given the post's options and kinds of media.

    Media or a poll may have a limit of their own, and options may take up a part of the length.
    """
    return _limit_and_reason(rules, options, media)[0]


def _limit_and_reason(rules: TextRules, options: Mapping[str, Any], media: Collection[MediaKind]) -> tuple[int, str]:
    """Return the maximum length of a post's text, and the reason if media or options reduce the length."""
    most, reason = rules.max_length, ""
    if rules.max_length_with_poll is not None and poll_in_options(options) is not None:
        most, reason = rules.max_length_with_poll, " as the question of a poll"
    elif rules.max_length_with_images is not None and set(media) == {"image"}:
        most, reason = rules.max_length_with_images, " beside images"
    elif rules.max_length_with_media is not None and media:
        most, reason = rules.max_length_with_media, " beside media"
    taken = rules.length_taken_by_options(options) if rules.length_taken_by_options else 0
    return (max(most - taken, 0), " beside its options") if taken else (most, reason)


def length_issues(
    platform: str,
    rules: TextRules,
    text: str,
    field: str,
    options: Mapping[str, Any],
    cached: TextCheckCache,
    *,
    media: Collection[MediaKind] = (),
    subject: str = "The text",
    scope: str = "",
) -> list[Issue]:
    """Check a text's length: return the validation issues of a text that is too long, with a shortened text as hint.

    A text within the limit may get a warning. The text in the hint fits the limits of all units. `media` are the kinds of the
    post's media. `cached` counts and cuts each text only once. `subject` is what the message calls the text, `scope` what the
    hint adds about where the shorter text would be valid.
    """
    most, reason = _limit_and_reason(rules, options, media)
    limits = [(rules.counted_as, most, rules.count), *rules.additional_limits]
    lengths = [cached(count, text) for _, _, count in limits]
    over = [(unit, limit, length) for (unit, limit, _), length in zip(limits, lengths, strict=True) if length > limit]
    if not over:
        return _advice(platform, rules, text, field, cached, subject)
    unit, limit, length = over[0]
    shorter = text
    for (_, most, count), whole in zip(limits, lengths, strict=True):
        shorter = cached(cut_to_limit, shorter, most, count, whole if shorter is text else None)
    message = f"{subject} counts {length} {unit}; {platform} takes {limit}{reason}."
    explanation = f"The text cut at a word within {limit} {unit}{scope}."
    facts: dict[str, Any] = {
        "subject": subject,
        "length": length,
        "unit": unit,
        "limit": limit,
        "reason": reason,
        "scope": scope,
    }
    return [issue_with_hint("TEXT_TOO_LONG", field, message, "replace_text", explanation, shorter, **facts)]


def _advice(platform: str, rules: TextRules, text: str, field: str, cached: TextCheckCache, subject: str) -> list[Issue]:
    """Return the warnings for a text that is within the platform's limit but longer than the platform advises."""
    issues = []
    for unit, most, count in rules.advised_limits:
        if (length := cached(count, text)) > most:
            code, advice = "TEXT_ABOVE_ADVISED", f"Use {most} {unit} or fewer."
            message = f"{subject} counts {length} {unit}; {platform} recommends {most} at most."
            facts: dict[str, Any] = {"subject": subject, "length": length, "unit": unit, "limit": most}
            issues.append(issue_with_hint(code, field, message, "write_text", advice, severity="warning", **facts))
    return issues
