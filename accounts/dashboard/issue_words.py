"""Sentences for people about validation issues, made from the codes and facts of the issues.

The messages of the API name platforms and units as the API does, such as `bluesky` and graphemes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.template.defaultfilters import filesizeformat

from accounts.platforms.issues import Issue, number_with_noun

IssueFacts = Mapping[str, Any]
# Units of text that people call characters, and those that they count as things.
CHARACTER_UNITS = frozenset(("characters", "graphemes", "utf16", "weighted", "characters_emoji_bytes"))
COUNTED_THING_NOUNS = {"hashtags": "hashtag", "mentions": "mention", "links": "link", "cashtags": "cashtag"}
REDUCED_LIMIT_REASONS = {
    " as the question of a poll": " for the question of a poll",
    " beside images": " together with images",
    " beside media": " together with media",
    " beside its options": " together with its options",
}


def issue_sentence(issue: Issue, label: str) -> str:
    """Return what is wrong with a post or file, for a person; `label` is the platform's display name."""
    if issue.facts:
        return _SENTENCES[issue.code](label, issue.facts)
    return _WITHOUT_FACTS[issue.code].format(label) if issue.code in _WITHOUT_FACTS else issue.message


def advice_sentence(issue: Issue) -> str:
    """Return what a person can do about a validation issue; an empty string if there is no advice."""
    hint, facts = issue.repair_hint, issue.facts
    if hint is None:
        return ""
    if hint.action == "replace_text" and "limit" in facts:
        only = ", for this account only" if facts.get("scope") else ""
        unit = "characters" if facts["unit"] in CHARACTER_UNITS else facts["unit"]
        return f"Cuts it at a word, to at most {facts['limit']:,} {unit}{only}."
    if issue.code == "MEDIA_TOO_LARGE":
        return f"Compress {'them' if facts.get('together') else 'it'} to {filesizeformat(facts['limit'])} or less."
    if issue.code == "TEXT_ABOVE_ADVISED":
        return "Leave some out."
    return hint.explanation


def _too_long(label: str, facts: IssueFacts) -> str:
    subject, length, limit, unit = _subject(facts), facts["length"], facts["limit"], facts["unit"]
    reason = REDUCED_LIMIT_REASONS.get(facts.get("reason", ""), "")
    if unit in CHARACTER_UNITS:
        over = number_with_noun(length - limit, "character")
        return f"{subject} is {over} too long for {label}, which allows {limit:,}{reason}."
    if unit in COUNTED_THING_NOUNS:
        allowed = f"only {limit}" if limit else "none"
        return f"{subject} has {number_with_noun(length, COUNTED_THING_NOUNS[unit])}; {label} allows {allowed}."
    if limit:
        size = f"{length:,} of {limit:,} {unit}"
        return f"{subject} is too long for {label}: it takes {size}. Emoji and letters with accents take several."
    return f"{subject} contains {unit}, which {label} does not allow."


def _above_advice(label: str, facts: IssueFacts) -> str:
    unit = COUNTED_THING_NOUNS.get(facts["unit"], "character")
    return f"The text has {number_with_noun(facts['length'], unit)}; {label} advises {facts['limit']} at most."


def _too_large(label: str, facts: IssueFacts) -> str:
    subject = "The files together have" if facts.get("together") else "The file has"
    return f"{subject} {filesizeformat(facts['bytes'])}; {label} allows {filesizeformat(facts['limit'])}."


def _invalid_option(label: str, facts: IssueFacts) -> str:
    """Return what is wrong with a platform option, by the keyword of the JSON Schema that it violates."""
    name, limit = str(facts["option"]).replace("_", " ").capitalize(), facts["limit"]
    problems = {
        "required": "is needed",
        "minLength": "is needed",
        "maxLength": f"is too long: at most {limit} characters",
        "maxItems": f"has too many entries: at most {limit}",
        "minItems": f"has too few entries: at least {limit}",
        "maximum": f"is too large: at most {limit}",
        "minimum": f"is too small: at least {limit}",
        "multipleOf": f"must be a multiple of {limit}",
        "additionalProperties": "has a part that does not exist there",
        "enum": "has a value that does not exist there",
        "pattern": "is not written as it has to be",
    }
    problem = problems.get(str(facts["rule"]), "is not filled in correctly")
    where = f"“{name}”" if name else "one of them"
    return f"In the options of {label}: {where} {problem}."


def _subject(facts: IssueFacts) -> str:
    """Return what a text is called on pages; the posts of a thread are its parts."""
    first, _, number = str(facts["subject"]).partition(" ")
    return f"Part {number} of the thread" if first == "Segment" else str(facts["subject"])


_SENTENCES: dict[str, Callable[[str, IssueFacts], str]] = {
    "TEXT_TOO_LONG": _too_long,
    "ALT_TEXT_TOO_LONG": _too_long,
    "POLL_CHOICE_TOO_LONG": _too_long,
    "TEXT_ABOVE_ADVISED": _above_advice,
    "TEXT_REQUIRED": lambda label, facts: f"{_subject(facts)} is empty.",
    "SEGMENT_REPEATED": lambda label, facts: f"{_subject(facts)} repeats an earlier one, which {label} refuses.",
    "POLL_CHOICE_COUNT": lambda label, facts: (
        f"The poll has {number_with_noun(facts['count'], 'choice')}; {label} needs {facts['allowed']}."
    ),
    "POLL_CHOICE_EMPTY": lambda label, facts: f"{facts['subject']} is empty.",
    "POLL_CHOICE_REPEATED": lambda label, facts: f"{facts['subject']} repeats an earlier one, which {label} refuses.",
    "POLL_DURATION": lambda label, facts: f"{label} keeps a poll open {facts['allowed']}, not {facts['minutes']} minutes.",
    "MEDIA_KIND_NOT_TAKEN": lambda label, facts: facts["because"] or f"{label} does not accept {facts['kind']}s.",
    "MEDIA_TYPE_NOT_TAKEN": lambda label, facts: (
        f"{label} does not accept {facts['format']} files. It accepts {facts['allowed']}."
    ),
    "MEDIA_TOO_LARGE": _too_large,
    "MEDIA_TOO_MANY_PIXELS": lambda label, facts: f"The image is too large for {label}, which would accept {facts['size']}.",
    "MEDIA_SHAPE": lambda label, facts: f"The image is too {facts['shape']} for {label}.",
    "MEDIA_TOO_LONG": lambda label, facts: f"The video is too long for {label}, which allows {facts['allowed']}.",
    "MEDIA_TOO_SHORT": lambda label, facts: f"The video is too short for {label}, which needs {facts['allowed']} or more.",
    "MEDIA_REQUIRED": lambda label, facts: f"{label} needs {facts['allowed']} in every post.",
    "MEDIA_MIXED": lambda label, facts: f"{label} does not accept {facts['kinds']} in one post.",
    "MEDIA_TOO_MANY": lambda label, facts: f"There are {facts['count']}; {label} allows {facts['allowed']} in a post.",
    "OPTIONS_INVALID": _invalid_option,
}
# Sentences without numbers. The messages of all other codes name neither a platform nor a unit, and are shown as they are.
_WITHOUT_FACTS = {
    "ACCOUNT_NEEDS_REAUTH": "{} does not let us in any more.",
    "POLL_WITH_MEDIA": "{} does not accept media together with a poll.",
    "LINK_CARD_WITH_MEDIA": "{} shows media or a link card, but not both.",
    "DUPLICATE_CONTENT": "The same post was sent to this account within the last 24 hours.",
}
