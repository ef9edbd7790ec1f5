"""The recurrence rule of a series as plain choices of a form, and in words; other rules stay in the notation of RFC 5545."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from posts.recurrence import InvalidRule, RecurrenceRule, parse_rule
from posts.recurrence.rule import WEEKDAYS

DAILY, WEEKLY, MONTH_DAY, MONTH_WEEKDAY, OTHER = "daily", "weekly", "month-day", "month-weekday", "other"
NEVER, ON_DATE, AFTER_COUNT = "never", "date", "count"
WEEKDAY_NAMES = dict(
    zip(WEEKDAYS, ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"), strict=True)
)
PLACES = {"1": "first", "2": "second", "3": "third", "4": "fourth", "-1": "last"}
END_OF_DAY = time(23, 59, 59)


def rule_of_choices(chosen: Mapping[str, Any], zone: ZoneInfo) -> str:
    """Return the RFC 5545 rule for the chosen values of the form's fields."""
    if chosen["repeats"] == OTHER:
        return str(chosen["rrule"]).strip()
    frequency = {DAILY: "DAILY", WEEKLY: "WEEKLY"}.get(chosen["repeats"], "MONTHLY")
    parts = [f"FREQ={frequency}"]
    if chosen["interval"] != 1:
        parts.append(f"INTERVAL={chosen['interval']}")
    if chosen["repeats"] == WEEKLY:
        parts.append(f"BYDAY={','.join(day for day in WEEKDAYS if day in chosen['weekdays'])}")
    elif chosen["repeats"] == MONTH_DAY:
        parts.append(f"BYMONTHDAY={chosen['month_day']}")
    elif chosen["repeats"] == MONTH_WEEKDAY:
        parts.append(f"BYDAY={chosen['place']}{chosen['place_weekday']}")
    if chosen["ends"] == ON_DATE:
        until = datetime.combine(chosen["until"], END_OF_DAY, zone).astimezone(UTC)
        parts.append(f"UNTIL={until:%Y%m%dT%H%M%SZ}")
    elif chosen["ends"] == AFTER_COUNT:
        parts.append(f"COUNT={chosen['count']}")
    return ";".join(parts)


def choices_of_rule(text: str, zone: ZoneInfo) -> dict[str, Any]:
    """Return the values of the form's fields for a rule; a rule that the plain choices cannot express is the choice OTHER."""
    other = {"repeats": OTHER, "rrule": text}
    with suppress(InvalidRule, OverflowError):
        rule = parse_rule(text)
        chosen = {**_repetition(rule), **_end(rule, zone), "interval": rule.interval}
        if "repeats" in chosen and parse_rule(rule_of_choices(chosen, zone)) == rule:
            return chosen
    return other


def rule_in_words(text: str, zone: ZoneInfo) -> str:
    """Return what a rule says, such as “Every 2 weeks on Monday and Friday”; a rule without words as it is."""
    chosen = choices_of_rule(text, zone)
    if chosen["repeats"] == OTHER:
        return f"By the rule {text}"
    unit = {DAILY: "day", WEEKLY: "week"}.get(chosen["repeats"], "month")
    every = f"Every {unit}" if chosen["interval"] == 1 else f"Every {chosen['interval']} {unit}s"
    if chosen["repeats"] == WEEKLY:
        every += f" on {_listed([WEEKDAY_NAMES[day] for day in chosen['weekdays']])}"
    elif chosen["repeats"] == MONTH_DAY:
        every += " on the last day" if chosen["month_day"] == -1 else f" on day {chosen['month_day']}"
    elif chosen["repeats"] == MONTH_WEEKDAY:
        every += f" on the {PLACES[chosen['place']]} {WEEKDAY_NAMES[chosen['place_weekday']]}"
    if chosen["ends"] == ON_DATE:
        return f"{every}, until {chosen['until']:%-d %B %Y}"
    return f"{every}, {chosen['count']} times" if chosen["ends"] == AFTER_COUNT else every


def _repetition(rule: RecurrenceRule) -> dict[str, Any]:
    days, month_days = rule.weekdays, rule.lists.get("BYMONTHDAY", ())
    if rule.frequency == "DAILY":
        return {"repeats": DAILY}
    if rule.frequency == "WEEKLY" and days:
        return {"repeats": WEEKLY, "weekdays": [WEEKDAYS[day] for day, _ in sorted(days)]}
    if rule.frequency == "MONTHLY" and len(month_days) == 1 and not days:
        return {"repeats": MONTH_DAY, "month_day": month_days[0]}
    if rule.frequency == "MONTHLY" and len(days) == 1 and str(days[0][1]) in PLACES:
        return {"repeats": MONTH_WEEKDAY, "place": str(days[0][1]), "place_weekday": WEEKDAYS[days[0][0]]}
    return {}


def _end(rule: RecurrenceRule, zone: ZoneInfo) -> dict[str, Any]:
    if rule.count is not None:
        return {"ends": AFTER_COUNT, "count": rule.count}
    if rule.until is not None:
        last: date = rule.until.astimezone(zone).date()
        return {"ends": ON_DATE, "until": last}
    return {"ends": NEVER}


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
