"""The composer's checks and previews: the validation result of each account, and each different version of the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from accounts.dashboard.issue_words import advice_sentence, issue_sentence
from accounts.models import ConnectedAccount
from accounts.platforms.issues import Issue
from accounts.platforms.polls import duration_in_words
from accounts.platforms.registry import get_adapter
from accounts.platforms.thread_option import further_segment_texts
from posts.dashboard.composition import has_repair_button, issue_key
from posts.validation import TargetToValidate, TargetValidation

MAX_PREVIEW_CHARACTERS = 6000  # characters in all previews together


@dataclass(frozen=True)
class ShownIssue:
    """A validation issue as the composer page shows it: in sentences for people, and with a button if one can repair it."""

    issue: Issue
    sentence: str
    advice: str
    name: str
    repairable: bool


@dataclass(frozen=True)
class CheckedTarget:
    """The validation result for one chosen account, as the composer page shows it."""

    label: str
    account: ConnectedAccount
    validation: TargetValidation
    issues: list[ShownIssue]
    unit: str
    poll: str  # description of the poll; empty without a poll


@dataclass
class TextVersionPreview:
    """The composer's preview of one version of the post's text, with the accounts that publish this version.

    `left_out` counts the characters that are not shown.
    """

    texts: list[str]
    left_out: int
    choices: tuple[str, ...]  # the choices of the poll
    targets: list[CheckedTarget] = field(default_factory=list)


def prepare_target_check_for_display(found: TargetValidation) -> CheckedTarget:
    """Return the validation result of one chosen account as the composer page shows it."""
    account = found.target.account
    label = get_adapter(account.platform).label
    issues = [
        ShownIssue(issue, issue_sentence(issue, label), advice_sentence(issue), issue_key(issue), has_repair_button(issue))
        for issue in found.issues
    ]
    unit = "bytes" if found.target.capabilities.text.counted_as == "bytes" else "characters"
    return CheckedTarget(label, account, found, issues, unit, _poll_in_words(found.target.poll))


def _poll_in_words(poll: Mapping[str, Any] | None) -> str:
    if poll is None:
        return ""
    count, minutes = len(poll["choices"]), poll["duration_minutes"]
    open_for = f"open for {duration_in_words(minutes)}" if minutes else "open without an end"
    return f"With a poll of {count} choice{'' if count == 1 else 's'}, {open_for}"


def text_previews(checks: Sequence[CheckedTarget]) -> list[TextVersionPreview]:
    """Return the previews on the composer page, one for each different version of the post's text.

    All previews together have at most MAX_PREVIEW_CHARACTERS.
    """
    found: dict[tuple[tuple[str, ...], ...], TextVersionPreview] = {}
    remaining = MAX_PREVIEW_CHARACTERS
    for check in checks:
        target = check.validation.target
        texts = (target.shown_text, *further_segment_texts(target.options))
        choices = _poll_choices(target)
        if (texts, choices) not in found:
            shown = []
            for text in texts:
                shown.append(text[:remaining])
                remaining -= len(shown[-1])
            found[texts, choices] = TextVersionPreview(shown, sum(map(len, texts)) - sum(map(len, shown)), choices)
        found[texts, choices].targets.append(check)
    return list(found.values())


def _poll_choices(target: TargetToValidate) -> tuple[str, ...]:
    """Return the poll choices that a preview in the composer shows, at most as many as the platform allows."""
    rules = target.capabilities.poll
    return tuple(target.poll["choices"][: rules.max_choices]) if rules and target.poll else ()
