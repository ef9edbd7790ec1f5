"""Polls in posts: the JSON Schema of the option `poll`, its validation, and the choices of a poll.

On every platform with polls the option has the format `{"choices": [...], "duration_minutes": n}`, with further switches
where the platform has them (PollRules.switches). The question is the post's own text. A poll belongs to the first segment of
a thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.text import get_text_list
from django.utils.translation import gettext_noop
from jsonschema import ValidationError

from accounts.platforms.counting import cut_to_limit
from accounts.platforms.errors import ContentRejected
from accounts.platforms.issues import Issue, issue_with_hint, number_with_noun
from accounts.platforms.poll_rules import PollRules
from accounts.platforms.schemas import object_schema
from accounts.platforms.types import Capabilities, Content

OPTION_NAME = "poll"
MAX_CHOICE_TEXT = 1000  # maximum length of any choice in characters; poll_issues checks the platform's own limit

_REPORTED_BY_ISSUES = frozenset({"minItems", "maxItems", "minimum", "maximum", "multipleOf"})


def poll_schema(rules: PollRules) -> dict[str, Any]:
    """Return the JSON Schema of a post's option `poll`; `poll_issues` checks the length of the choices in the poll."""
    duration = {
        "type": "integer",
        "title": gettext_noop("Open for how many minutes"),
        "description": f"{poll_duration_range_in_english(rules).capitalize()}. A day has 1440 minutes.",
        "minimum": rules.min_duration_minutes,
        "maximum": rules.max_duration_minutes,
    }
    if rules.duration_step_minutes > 1:
        duration["multipleOf"] = rules.duration_step_minutes
    return {
        "description": gettext_noop("A poll below the text, which is its question."),
        **object_schema(
            ["choices"] if rules.open_ended else ["choices", "duration_minutes"],
            choices={
                "type": "array",
                "description": f"What can be voted for: {_counts(rules)}, each of at most {rules.max_choice_length} "
                "characters.",
                "items": {"type": "string", "maxLength": MAX_CHOICE_TEXT},
                "minItems": rules.min_choices,
                "maxItems": rules.max_choices,
            },
            duration_minutes=duration,
            **{name: {"type": "boolean", "description": said} for name, said in rules.switches.items()},
        ),
    }


def poll_in_options(options: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the poll in a post's options, which may still be invalid; None if there is no poll."""
    poll = options.get(OPTION_NAME)
    return poll if isinstance(poll, dict) else None


def poll_choices_in_options(options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the choices of the poll in a post's options; empty if there is no poll or its choices are not a list."""
    given = (poll_in_options(options) or {}).get("choices")
    return tuple(choice for choice in given if isinstance(choice, str)) if isinstance(given, list) else ()


def poll_issues(
    platform: str, capabilities: Capabilities, options: Mapping[str, Any], field: str, *, with_media: bool
) -> list[Issue]:
    """Return the validation issues of the poll in a post's options; `field` is their path, such as `targets[0].options`.

    The JSON Schema of the options reports a value that does not have the structure of a poll.
    """
    rules, poll = capabilities.poll, poll_in_options(options)
    if rules is None or poll is None:
        return []
    where = f"{field}.{OPTION_NAME}"
    issues = [*_choice_issues(platform, rules, poll.get("choices"), f"{where}.choices")]
    issues += _duration_issues(platform, rules, poll.get("duration_minutes"), f"{where}.duration_minutes")
    if with_media and not rules.with_media:
        message, advice = f"{platform} takes no media in a post with a poll.", "Leave out the media or the poll."
        issues.append(issue_with_hint("POLL_WITH_MEDIA", where, message, "remove_media", advice))
    return issues


def is_reported_by_poll_issues(violation: ValidationError) -> bool:
    """Return whether a JSON Schema violation of a poll can be ignored because `poll_issues` reports it better."""
    path = list(violation.absolute_path)
    return path[:1] == [OPTION_NAME] and violation.validator in _REPORTED_BY_ISSUES


def raise_if_platform_would_refuse_poll(content: Content, capabilities: Capabilities, label: str) -> None:
    """Raise ContentRejected just before a post is published if the platform would refuse the poll in its options.

    Validation reports the same issues when the post is created, but limits may have changed since then.
    """
    issues = poll_issues(label, capabilities, content.options, "options", with_media=bool(content.media))
    if issues:
        raise ContentRejected(issues[0].message)


def poll_duration_in_english(minutes: int) -> str:
    """Return a poll's duration in words for validation messages, such as 1 day and 12 hours."""
    parts = ((minutes // 1440, "day"), (minutes % 1440 // 60, "hour"), (minutes % 60, "minute"))
    return str(get_text_list([number_with_noun(count, unit) for count, unit in parts if count], "and")) or "0 minutes"


def poll_duration_range_in_english(rules: PollRules) -> str:
    """Return the range of poll durations that a platform allows, in English, such as from 1 hour to 7 days."""
    shortest, longest = (poll_duration_in_english(n) for n in (rules.min_duration_minutes, rules.max_duration_minutes))
    step = f", in steps of {poll_duration_in_english(rules.duration_step_minutes)}" if rules.duration_step_minutes > 1 else ""
    return f"from {shortest} to {longest}{step}"


def _choice_issues(platform: str, rules: PollRules, choices: Any, where: str) -> list[Issue]:
    if not isinstance(choices, list):
        return []
    if not rules.min_choices <= len(choices) <= rules.max_choices:
        message = f"The poll has {number_with_noun(len(choices), 'choice')}; {platform} takes {_counts(rules)}."
        facts: dict[str, Any] = {"count": len(choices), "least": rules.min_choices, "most": rules.max_choices}
        return [issue_with_hint("POLL_CHOICE_COUNT", where, message, "set_option", f"Offer {_counts(rules)}.", **facts)]
    issues, earlier = [], set[str]()
    for index, choice in enumerate(choices):
        if isinstance(choice, str) and len(choice) <= MAX_CHOICE_TEXT:
            removable = len(choices) > rules.min_choices
            issues += _one_choice_issues(platform, rules, choice, index, earlier, f"{where}[{index}]", removable=removable)
            earlier.add(choice.strip())
    return issues


def _one_choice_issues(
    platform: str, rules: PollRules, choice: str, index: int, earlier: set[str], where: str, *, removable: bool
) -> list[Issue]:
    subject = f"Choice {index + 1} of the poll"
    facts: dict[str, Any] = {"subject": subject, "removable": removable}
    if not choice.strip():
        advice = "Write a text, or leave the choice out."
        return [issue_with_hint("POLL_CHOICE_EMPTY", where, f"{subject} is empty.", "write_text", advice, **facts)]
    if rules.distinct and choice.strip() in earlier:
        message = f"{subject} repeats an earlier one, which {platform} refuses."
        advice = "Write another text, or leave the choice out."
        return [issue_with_hint("POLL_CHOICE_REPEATED", where, message, "write_text", advice, **facts)]
    length, most = rules.count(choice), rules.max_choice_length
    if length <= most:
        return []
    shorter = cut_to_limit(choice, most, rules.count, length)
    message = f"{subject} counts {length} {rules.counted_as}; {platform} takes {most}."
    explanation = f"The choice cut at a word within {most} {rules.counted_as}."
    facts |= {"length": length, "unit": rules.counted_as, "limit": most}
    return [issue_with_hint("POLL_CHOICE_TOO_LONG", where, message, "replace_text", explanation, shorter, **facts)]


def _duration_issues(platform: str, rules: PollRules, minutes: Any, where: str) -> list[Issue]:
    if not isinstance(minutes, int | float) or isinstance(minutes, bool):
        return []
    in_range = rules.min_duration_minutes <= minutes <= rules.max_duration_minutes
    if in_range and isinstance(minutes, int) and minutes % rules.duration_step_minutes == 0:
        return []
    step = f", in steps of {rules.duration_step_minutes}" if rules.duration_step_minutes > 1 else ""
    numbers = f"from {rules.min_duration_minutes} to {rules.max_duration_minutes}{step}"
    message = f"The poll would be open for {minutes} minutes; {platform} takes {poll_duration_range_in_english(rules)}."
    advice = f"Give a whole number of minutes {numbers}."
    facts: dict[str, Any] = {"minutes": minutes, "rules": rules}
    return [issue_with_hint("POLL_DURATION", where, message, "set_option", advice, **facts)]


def _counts(rules: PollRules) -> str:
    at_least = f"{rules.min_choices} to " if rules.min_choices < rules.max_choices else ""
    return f"{at_least}{number_with_noun(rules.max_choices, 'choice')}"
