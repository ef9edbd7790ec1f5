"""Amounts in words on dashboard pages: numbers, durations, sizes of files and file types, in the language of the page."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.formats import number_format
from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.platforms.poll_rules import PollRules

FORMAT_NAMES = {"quicktime": "MOV", "webp": "WebP", "webm": "WebM"}


def localized_number(value: int | float | str, decimals: int | None = None) -> str:
    """Return an amount as a number in the language of the page, such as 63,206 in English and 63.206 in German."""
    return number_format(value, decimals, force_grouping=True)


def file_types_in_words(mime_types: Iterable[str]) -> str:
    """Return MIME types as the names of file types that dashboard pages show beside amounts, such as JPEG, PNG."""
    subtypes = [mime_type.partition("/")[2] for mime_type in mime_types]
    return ", ".join(FORMAT_NAMES.get(subtype, subtype.upper()) for subtype in subtypes)


def file_size_in_words(count: int) -> str:
    """Return the size of a file in words, such as 8 MB, in the decimal or binary unit that the platform uses."""
    for unit, name in ((10**9, "GB"), (2**30, "GB"), (10**6, "MB"), (2**20, "MB")):
        if count >= unit and count % unit == 0:
            return f"{localized_number(count // unit)} {name}"
    return f"{localized_number(count / 10**6, 1)} MB"


def seconds_in_words_of_one_unit(seconds: int) -> str:
    """Return an amount of seconds in words, in the largest unit (hours, minutes, seconds) that gives a whole number."""
    if seconds >= 3600 and seconds % 3600 == 0:
        return hour_count_in_words(seconds // 3600)
    if seconds >= 60 and seconds % 60 == 0:
        return minute_count_in_words(seconds // 60)
    return second_count_in_words(seconds)


def seconds_as_duration_in_words(seconds: int) -> str:
    """Return an amount of seconds in words: as hours, minutes and seconds, such as 2 minutes and 20 seconds."""
    parts = [
        hour_count_in_words(seconds // 3600) if seconds >= 3600 else "",
        minute_count_in_words(seconds % 3600 // 60) if seconds % 3600 >= 60 else "",
        second_count_in_words(seconds % 60) if seconds % 60 else "",
    ]
    return _(" and ").join(part for part in parts if part)


def second_count_in_words(seconds: int) -> str:
    """Return an amount of seconds in words, always in seconds, such as 90 seconds."""
    return ngettext("%(number)d second", "%(number)d seconds", seconds) % {"number": seconds}


def minutes_as_duration_in_words(count: int) -> str:
    """Return an amount of minutes in words: as days, hours and minutes, such as 1 hour and 30 minutes."""
    days, rest = divmod(count, 1440)
    parts = [
        ngettext("%(number)d day", "%(number)d days", days) % {"number": days} if days else "",
        hour_count_in_words(rest // 60) if rest // 60 else "",
        minute_count_in_words(rest % 60) if rest % 60 or not count else "",
    ]
    return get_text_list([part for part in parts if part], _("and"))


def poll_duration_range_in_words(rules: PollRules) -> str:
    """Return the shortest and longest duration of a poll as amounts in words, such as from 1 hour to 7 days."""
    shortest, longest = (minutes_as_duration_in_words(n) for n in (rules.min_duration_minutes, rules.max_duration_minutes))
    if rules.duration_step_minutes > 1:
        step = minutes_as_duration_in_words(rules.duration_step_minutes)
        named = {"shortest": shortest, "longest": longest, "step": step}
        return _("from %(shortest)s to %(longest)s, in steps of %(step)s") % named
    return _("from %(shortest)s to %(longest)s") % {"shortest": shortest, "longest": longest}


def hour_count_in_words(count: int) -> str:
    """Return an amount of hours in words, such as 2 hours."""
    return ngettext("%(number)d hour", "%(number)d hours", count) % {"number": count}


def minute_count_in_words(count: int) -> str:
    """Return an amount of minutes in words, such as 5 minutes."""
    return ngettext("%(number)d minute", "%(number)d minutes", count) % {"number": count}
