"""Sentences for people about validation issues, made from the codes and facts of the issues, in the language of the page.

The messages of the API name platforms and units as the API does, such as `bluesky` and graphemes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.template.defaultfilters import filesizeformat
from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.dashboard.amounts import localized_number, poll_duration_range_in_words, seconds_as_duration_in_words
from accounts.dashboard.issue_nouns import (
    COUNTED_THINGS,
    KIND_NOT_ACCEPTED_SENTENCES,
    KIND_PLURALS,
    KIND_WITH_ARTICLE,
    count_of_kind_in_words,
    text_unit_name,
)
from accounts.dashboard.option_names import option_display_name
from accounts.platforms.issues import Issue
from config.pages.message_templates import translated_message

IssueFacts = Mapping[str, Any]
# Units of text that people call characters; the others count things, such as links, or bytes.
CHARACTER_UNITS = frozenset(("characters", "graphemes", "utf16", "weighted", "characters_emoji_bytes"))
# By the reason why the limit of a text is lower than usual.
LIMIT_SENTENCES = {
    "": gettext_lazy("%(subject)s is %(over)s too long for %(platform)s, which allows %(limit)s."),
    " as the question of a poll": gettext_lazy(
        "%(subject)s is %(over)s too long for %(platform)s, which allows %(limit)s for the question of a poll."
    ),
    " beside images": gettext_lazy(
        "%(subject)s is %(over)s too long for %(platform)s, which allows %(limit)s together with images."
    ),
    " beside media": gettext_lazy(
        "%(subject)s is %(over)s too long for %(platform)s, which allows %(limit)s together with media."
    ),
    " beside its options": gettext_lazy(
        "%(subject)s is %(over)s too long for %(platform)s, which allows %(limit)s together with its options."
    ),
}


def issue_sentence(issue: Issue, label: str) -> str:
    """Return the sentence that tells people what is wrong in a validation issue; `label` is the platform's display name."""
    if issue.facts:
        return _SENTENCES[issue.code](label, issue.facts)
    if issue.code in _WITHOUT_FACTS:
        return str(_WITHOUT_FACTS[issue.code] % {"platform": label})
    return translated_message(issue.message)


def advice_sentence(issue: Issue) -> str:
    """Return the sentence that tells people how to fix a validation issue; an empty string if there is no advice."""
    hint, facts = issue.repair_hint, issue.facts
    if hint is None:
        return ""
    if hint.action == "replace_text" and "limit" in facts:
        unit = _("characters") if facts["unit"] in CHARACTER_UNITS else text_unit_name(facts["unit"])
        named = {"limit": localized_number(facts["limit"]), "unit": unit}
        if facts.get("scope"):
            return _("Cuts it at a word, to at most %(limit)s %(unit)s, for this account only.") % named
        return _("Cuts it at a word, to at most %(limit)s %(unit)s.") % named
    if issue.code in _ADVICE and hint.action != "remove_media":
        return _ADVICE[issue.code](facts)
    if issue.code == "MEDIA_TOO_MANY":
        return _("Keep %(allowed)s, or make another post of the rest.") % {"allowed": _kept(facts)}
    if issue.code == "MEDIA_MIXED":
        kept = KIND_PLURALS[facts["kinds"][0]]
        return _("Keep the %(kept)s only, or make a post of each kind.") % {"kept": kept}
    return translated_message(hint.explanation)


def _kept(facts: IssueFacts) -> str:
    return count_of_kind_in_words(facts["kind"], facts["limit"])


def _compress(facts: IssueFacts) -> str:
    size = {"size": filesizeformat(facts["limit"])}
    return (
        _("Compress them to %(size)s or less.") if facts.get("together") else _("Compress it to %(size)s or less.")
    ) % size


def _too_long(label: str, facts: IssueFacts) -> str:
    length, limit, unit = facts["length"], facts["limit"], facts["unit"]
    named: dict[str, Any] = {"subject": _subject(facts), "platform": label, "limit": localized_number(limit)}
    if unit in CHARACTER_UNITS:
        over = length - limit
        named["over"] = ngettext("%(number)s character", "%(number)s characters", over) % {"number": localized_number(over)}
        return str(LIMIT_SENTENCES.get(facts.get("reason", ""), LIMIT_SENTENCES[""]) % named)
    if unit in COUNTED_THINGS:
        named["things"] = COUNTED_THINGS[unit] % {"count": length, "number": localized_number(length)}
        if limit:
            return _("%(subject)s has %(things)s; %(platform)s allows only %(limit)s.") % named
        return _("%(subject)s has %(things)s; %(platform)s allows none.") % named
    named |= {"length": localized_number(length), "unit": text_unit_name(unit)}
    if limit:
        text = _(
            "%(subject)s is too long for %(platform)s: it takes %(length)s of %(limit)s %(unit)s. "
            "Emoji and letters with accents take several."
        )
        return text % named
    return _("%(subject)s contains %(unit)s, which %(platform)s does not allow.") % named


def _above_advice(label: str, facts: IssueFacts) -> str:
    length = facts["length"]
    if facts["unit"] in COUNTED_THINGS:
        things = COUNTED_THINGS[facts["unit"]] % {"count": length, "number": localized_number(length)}
    else:
        things = ngettext("%(number)s character", "%(number)s characters", length) % {"number": localized_number(length)}
    named = {"things": things, "platform": label, "limit": facts["limit"]}
    return _("The text has %(things)s; %(platform)s advises %(limit)s at most.") % named


def _too_large(label: str, facts: IssueFacts) -> str:
    named = {"size": filesizeformat(facts["bytes"]), "platform": label, "limit": filesizeformat(facts["limit"])}
    if facts.get("together"):
        return _("The files together have %(size)s; %(platform)s allows %(limit)s.") % named
    return _("The file has %(size)s; %(platform)s allows %(limit)s.") % named


def _invalid_option(label: str, facts: IssueFacts) -> str:
    """Return the sentence about a platform option that violates its JSON Schema, chosen by the violated keyword."""
    limit = facts["limit"]
    problems = {
        "required": _("is needed"),
        "minLength": _("is needed"),
        "maxLength": _("is too long: at most %(limit)s characters"),
        "maxItems": _("has too many entries: at most %(limit)s"),
        "minItems": _("has too few entries: at least %(limit)s"),
        "maximum": _("is too large: at most %(limit)s"),
        "minimum": _("is too small: at least %(limit)s"),
        "multipleOf": _("must be a multiple of %(limit)s"),
        "additionalProperties": _("has a part that does not exist there"),
        "enum": _("has a value that does not exist there"),
        "pattern": _("is not written as it has to be"),
    }
    problem = problems.get(str(facts["rule"]), _("is not filled in correctly")) % {"limit": limit}
    if not facts["option"]:
        return _("In the options of %(platform)s: one of them %(problem)s.") % {"platform": label, "problem": problem}
    named = {"platform": label, "option": option_display_name(str(facts["option"])), "problem": problem}
    return _("In the options of %(platform)s: “%(option)s” %(problem)s.") % named


def _subject(facts: IssueFacts) -> str:
    """Return the subject of sentences about a validation issue, such as the text, or part 2 of the thread."""
    first, _space, rest = str(facts["subject"]).partition(" ")
    if first == "Segment":
        return _("Part %(number)s of the thread") % {"number": rest}
    if first == "Choice":
        return _("Choice %(number)s of the poll") % {"number": rest.partition(" ")[0]}
    return _(str(facts["subject"]))


def _choice_count(label: str, facts: IssueFacts) -> str:
    count, least, most = facts["count"], facts["least"], facts["most"]
    choices = ngettext("%(number)d choice", "%(number)d choices", count) % {"number": count}
    named = {"choices": choices, "platform": label, "least": least, "most": most}
    if least < most:
        return _("The poll has %(choices)s; %(platform)s needs %(least)d to %(most)d choices.") % named
    return _("The poll has %(choices)s; %(platform)s needs %(most)d choices.") % named


def _choice_count_advice(facts: IssueFacts) -> str:
    if facts["least"] < facts["most"]:
        return _("Offer %(least)d to %(most)d choices.") % facts
    return _("Offer %(most)d choices.") % facts


def _leave_option_out(facts: IssueFacts) -> str:
    if facts["option"] == "post_type":
        return _("Make it an ordinary post")
    return _("Leave out “%(option)s”") % {"option": option_display_name(facts["option"])}


def _kind_not_accepted(label: str, facts: IssueFacts) -> str:
    return _(facts["because"]) if facts["because"] else str(KIND_NOT_ACCEPTED_SENTENCES[facts["kind"]] % {"platform": label})


def _wrong_type(label: str, facts: IssueFacts) -> str:
    named = {"platform": label, "type": facts["format"], "types": get_text_list(facts["types"], _("or"))}
    return _("%(platform)s does not accept %(type)s files. It accepts %(types)s.") % named


def _wrong_shape(label: str, facts: IssueFacts) -> str:
    wide, high = _("The image is too wide for %(platform)s."), _("The image is too high for %(platform)s.")
    return (wide if facts["shape"] == "wide" else high) % {"platform": label}


def _too_many(label: str, facts: IssueFacts) -> str:
    named = {"count": count_of_kind_in_words(facts["kind"], facts["count"]), "platform": label, "allowed": _kept(facts)}
    return _("There are %(count)s; %(platform)s allows %(allowed)s in a post.") % named


def _kinds(facts: IssueFacts, last_word: str, names: Mapping[str, object]) -> str:
    return f" {last_word} ".join(str(names[kind]) for kind in facts["kinds"])


def _size(facts: IssueFacts) -> str:
    return _("%(width)s × %(height)s pixels") % {
        "width": localized_number(facts["width"]),
        "height": localized_number(facts["height"]),
    }


_SENTENCES: dict[str, Callable[[str, IssueFacts], str]] = {
    "TEXT_TOO_LONG": _too_long,
    "ALT_TEXT_TOO_LONG": _too_long,
    "POLL_CHOICE_TOO_LONG": _too_long,
    "TEXT_ABOVE_ADVISED": _above_advice,
    "TEXT_REQUIRED": lambda label, facts: _("%(subject)s is empty.") % {"subject": _subject(facts)},
    "SEGMENT_REPEATED": lambda label, facts: (
        _("%(subject)s repeats an earlier one, which %(platform)s refuses.") % {"subject": _subject(facts), "platform": label}
    ),
    "POLL_CHOICE_COUNT": _choice_count,
    "POLL_CHOICE_EMPTY": lambda label, facts: _("%(subject)s is empty.") % {"subject": _subject(facts)},
    "POLL_CHOICE_REPEATED": lambda label, facts: (
        _("%(subject)s repeats an earlier one, which %(platform)s refuses.") % {"subject": _subject(facts), "platform": label}
    ),
    "POLL_DURATION": lambda label, facts: (
        _("%(platform)s keeps a poll open %(range)s, not %(minutes)s minutes.")
        % {"platform": label, "range": poll_duration_range_in_words(facts["rules"]), "minutes": facts["minutes"]}
    ),
    "MEDIA_KIND_NOT_TAKEN": _kind_not_accepted,
    "MEDIA_TYPE_NOT_TAKEN": _wrong_type,
    "MEDIA_TOO_LARGE": _too_large,
    "MEDIA_TOO_MANY_PIXELS": lambda label, facts: (
        _("The image is too large for %(platform)s, which would accept %(size)s.") % {"platform": label, "size": _size(facts)}
    ),
    "MEDIA_SHAPE": _wrong_shape,
    "MEDIA_TOO_LONG": lambda label, facts: (
        _("The video is too long for %(platform)s, which allows %(duration)s.")
        % {"platform": label, "duration": seconds_as_duration_in_words(facts["seconds"])}
    ),
    "MEDIA_TOO_SHORT": lambda label, facts: (
        _("The video is too short for %(platform)s, which needs %(duration)s or more.")
        % {"platform": label, "duration": seconds_as_duration_in_words(facts["seconds"])}
    ),
    "MEDIA_REQUIRED": lambda label, facts: (
        _("%(platform)s needs %(media)s in every post.")
        % {"platform": label, "media": _kinds(facts, _("or"), KIND_WITH_ARTICLE)}
    ),
    "MEDIA_MIXED": lambda label, facts: (
        _("%(platform)s does not accept %(media)s in one post.")
        % {"platform": label, "media": _kinds(facts, _("and"), KIND_PLURALS)}
    ),
    "MEDIA_TOO_MANY": _too_many,
    "OPTIONS_INVALID": _invalid_option,
    "OPTION_NOT_WITH_MEDIA": lambda label, facts: _(facts["because"]),
}
_ADVICE: dict[str, Callable[[IssueFacts], str]] = {
    "MEDIA_TOO_LARGE": _compress,
    "TEXT_ABOVE_ADVISED": lambda facts: _("Leave some out."),
    "MEDIA_TOO_MANY_PIXELS": lambda facts: _("Scale it down to %(size)s.") % {"size": _size(facts)},
    "MEDIA_SHAPE": lambda facts: _("Crop it to %(size)s, or add borders.") % {"size": _size(facts)},
    "MEDIA_TOO_LONG": lambda facts: (
        _("Cut it to %(duration)s.") % {"duration": seconds_as_duration_in_words(facts["seconds"])}
    ),
    "MEDIA_TOO_SHORT": lambda facts: (
        _("Make it %(duration)s long or longer.") % {"duration": seconds_as_duration_in_words(facts["seconds"])}
    ),
    "POLL_CHOICE_COUNT": _choice_count_advice,
    "OPTION_NOT_WITH_MEDIA": _leave_option_out,
    "MEDIA_REQUIRED": lambda facts: _("Attach %(media)s.") % {"media": _kinds(facts, _("or"), KIND_WITH_ARTICLE)},
}
# Sentences without numbers. The messages of all other codes name neither a platform nor a unit, and are shown as they are.
_WITHOUT_FACTS = {
    "ACCOUNT_NEEDS_REAUTH": gettext_lazy("%(platform)s does not let us in any more."),
    "POLL_WITH_MEDIA": gettext_lazy("%(platform)s does not accept media together with a poll."),
    "LINK_CARD_WITH_MEDIA": gettext_lazy("%(platform)s shows media or a link card, but not both."),
    "DUPLICATE_CONTENT": gettext_lazy("The same post was sent to this account within the last 24 hours."),
}
