"""Recurrence rules of RFC 5545: their parts, and the checks of a rule that a caller gives."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from django.utils.translation import gettext_noop

MAX_RULE_LENGTH = 1000
MAX_OCCURRENCES_PER_DAY = 24
WEEKS_IN_MONTH, WEEKS_IN_YEAR = 5, 53  # parts of weeks included
MAX_POSITIONS = 31  # values of BYSETPOS; the search tries each of them in each period
DAYS_OF_PERIOD = {"YEARLY": 366, "MONTHLY": 31, "WEEKLY": 7, "DAILY": 1}  # by FREQ
WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_UNTIL = re.compile(r"\d{8}T\d{6}Z")
_NUMBER = re.compile(r"[0-9]{1,5}")
_SIGNED_NUMBER = re.compile(r"[+-]?[0-9]{1,3}")
_WEEKDAY = re.compile(rf"([+-]?[0-9]{{1,2}})?({'|'.join(WEEKDAYS)})")
_LIMITS = {"INTERVAL": (1, 1000), "COUNT": (1, 10_000)}
_LIST_LIMITS = {
    "BYMONTH": (1, 12),
    "BYMONTHDAY": (-31, 31),
    "BYYEARDAY": (-366, 366),
    "BYWEEKNO": (-53, 53),
    "BYHOUR": (0, 23),
    "BYMINUTE": (0, 59),
    "BYSETPOS": (-366, 366),
}
# The frequencies with which RFC 5545 allows a part; the others go with all.
_FREQUENCIES_OF_PART = {"BYYEARDAY": ("YEARLY",), "BYWEEKNO": ("YEARLY",), "BYMONTHDAY": ("YEARLY", "MONTHLY", "DAILY")}


class InvalidRule(ValueError):
    """Error for a recurrence rule that is not accepted; its text says why, as a sentence for people."""


@dataclass(frozen=True)
class RecurrenceRule:
    """A checked RFC 5545 recurrence rule, split into its parts; COUNT and UNTIL are applied by `Recurrence`."""

    frequency: str
    interval: int
    week_start: int
    lists: Mapping[str, tuple[int, ...]]
    weekdays: tuple[tuple[int, int | None], ...]
    count: int | None
    until: datetime | None


def parse_rule(text: str) -> RecurrenceRule:
    """Parse an RFC 5545 rule such as `FREQ=WEEKLY;BYDAY=MO,WE`. Raises InvalidRule."""
    parts = _split(text)
    frequency = parts.pop("FREQ", "")
    if frequency not in DAYS_OF_PERIOD:
        raise InvalidRule(f"FREQ must be one of {', '.join(DAYS_OF_PERIOD)}.")
    numbers = {name: _number(name, parts.pop(name)) for name in _LIMITS if name in parts}
    until = _until(parts.pop("UNTIL")) if "UNTIL" in parts else None
    if until and "COUNT" in numbers:
        raise InvalidRule(gettext_noop("Give either COUNT or UNTIL, not both."))
    week_start = parts.pop("WKST", "MO")
    if week_start not in WEEKDAYS:
        raise InvalidRule(f"WKST must be one of {', '.join(WEEKDAYS)}.")
    weekdays = tuple(_weekday(each) for each in parts.pop("BYDAY").split(",")) if "BYDAY" in parts else ()
    lists = {name: _numbers(name, parts.pop(name)) for name in _LIST_LIMITS if name in parts}
    if parts:
        raise InvalidRule(f"{sorted(parts)[0]} is not supported.")
    _check_combination(frequency, lists, weekdays)
    return RecurrenceRule(
        frequency, numbers.get("INTERVAL", 1), WEEKDAYS.index(week_start), lists, weekdays, numbers.get("COUNT"), until
    )


def _split(text: str) -> dict[str, str]:
    if len(text) > MAX_RULE_LENGTH:
        raise InvalidRule(f"A rule has at most {MAX_RULE_LENGTH:,} characters.")
    parts: dict[str, str] = {}
    for part in text.upper().split(";"):
        name, separator, value = part.partition("=")
        if not (separator and re.fullmatch(r"[A-Z-]+", name) and value):
            raise InvalidRule(gettext_noop("Must be a rule of RFC 5545 in one line, such as FREQ=WEEKLY;BYDAY=MO,WE."))
        if name in parts:
            raise InvalidRule(f"{name} is given more than once.")
        parts[name] = value
    return parts


def _number(name: str, text: str) -> int:
    least, most = _LIMITS[name]
    if not _NUMBER.fullmatch(text) or not least <= int(text) <= most:
        raise InvalidRule(f"{name} must be a number from {least} to {most:,}.")
    return int(text)


def _numbers(name: str, text: str) -> tuple[int, ...]:
    least, most = _LIST_LIMITS[name]
    allowed = range(least, most + 1) if least >= 0 else {*range(least, 0), *range(1, most + 1)}
    found = []
    for each in text.split(","):
        if not _SIGNED_NUMBER.fullmatch(each) or int(each) not in allowed:
            raise InvalidRule(f"{name} must have numbers from {least} to {most}{'' if least >= 0 else ', without 0'}.")
        found.append(int(each))
    return tuple(sorted(set(found)))


def _until(text: str) -> datetime:
    if _UNTIL.fullmatch(text):
        with suppress(ValueError):
            return datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    raise InvalidRule(gettext_noop("UNTIL must be a time in UTC, such as 20271231T235959Z."))


def _weekday(text: str) -> tuple[int, int | None]:
    match = _WEEKDAY.fullmatch(text)
    number = int(match[1]) if match and match[1] else None
    if match is None or number == 0 or (number and abs(number) > WEEKS_IN_YEAR):
        raise InvalidRule(gettext_noop("BYDAY must have weekdays such as MO, or with a number such as 1MO or -1FR."))
    return WEEKDAYS.index(match[2]), number


def _check_combination(
    frequency: str, lists: Mapping[str, tuple[int, ...]], weekdays: tuple[tuple[int, int | None], ...]
) -> None:
    """Raise InvalidRule for parts that RFC 5545 does not allow together, and for more than 24 occurrences a day."""
    for name, frequencies in _FREQUENCIES_OF_PART.items():
        if name in lists and frequency not in frequencies:
            raise InvalidRule(f"{name} does not go with FREQ={frequency}.")
    if any(number for _, number in weekdays) and (frequency not in ("MONTHLY", "YEARLY") or "BYWEEKNO" in lists):
        raise InvalidRule(gettext_noop("A numbered weekday such as 1MO needs FREQ=MONTHLY, or FREQ=YEARLY without BYWEEKNO."))
    in_months = frequency == "MONTHLY" or "BYMONTH" in lists
    if in_months and any(number and abs(number) > WEEKS_IN_MONTH for _, number in weekdays):
        raise InvalidRule(f"A month has at most {WEEKS_IN_MONTH} of a weekday.")
    positions = lists.get("BYSETPOS", ())
    if positions and not weekdays and len(lists) == 1:
        raise InvalidRule(gettext_noop("BYSETPOS needs another part such as BYDAY."))
    if len(positions) > MAX_POSITIONS:
        raise InvalidRule(f"BYSETPOS has at most {MAX_POSITIONS} numbers.")
    times = len(lists.get("BYHOUR", (0,))) * len(lists.get("BYMINUTE", (0,)))
    if times > MAX_OCCURRENCES_PER_DAY:
        raise InvalidRule(f"BYHOUR and BYMINUTE make more than {MAX_OCCURRENCES_PER_DAY} occurrences a day.")
    if positions and max(map(abs, positions)) > times * DAYS_OF_PERIOD[frequency]:
        raise InvalidRule(f"BYSETPOS counts beyond the occurrences of FREQ={frequency}.")
