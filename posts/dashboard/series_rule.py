"""The recurrence rule of a series as plain choices of a form, and in words; other rules stay in the notation of RFC 5545."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from django.utils import dates
from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext_lazy

from config.pages.language import format_date
from posts.recurrence import InvalidRule, RecurrenceRule, parse_rule
from posts.recurrence.rule import WEEKDAYS

DAILY, WEEKLY, MONTH_DAY, MONTH_WEEKDAY, OTHER = "daily", "weekly", "month-day", "month-weekday", "other"
NEVER, ON_DATE, AFTER_COUNT = "never", "date", "count"
WEEKDAY_NAMES = dict(zip(WEEKDAYS, dates.WEEKDAYS.values(), strict=True))
WEEKDAY_ORDINALS = {
    "1": pgettext_lazy("which weekday of the month", "first"),
    "2": pgettext_lazy("which weekday of the month", "second"),
    "3": pgettext_lazy("which weekday of the month", "third"),
    "4": pgettext_lazy("which weekday of the month", "fourth"),
    "-1": pgettext_lazy("which weekday of the month", "last"),
}
# The same words after "on the", where other languages write them differently.
_PLACES_IN_RULE = {
    "1": pgettext_lazy("on the … Monday", "first"),
    "2": pgettext_lazy("on the … Monday", "second"),
    "3": pgettext_lazy("on the … Monday", "third"),
    "4": pgettext_lazy("on the … Monday", "fourth"),
    "-1": pgettext_lazy("on the … Monday", "last"),
}
END_OF_DAY = time(23, 59, 59)


def rule_from_form_values(chosen: Mapping[str, Any], zone: ZoneInfo) -> str:
    """Return the RFC 5545 rule of a series for the chosen values of its form's fields."""
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


def form_values_of_rule(text: str, zone: ZoneInfo) -> dict[str, Any]:
    """Return the form field values that express a series' rule; a rule too complex for the form's choices is OTHER."""
    other = {"repeats": OTHER, "rrule": text}
    with suppress(InvalidRule, OverflowError):
        rule = parse_rule(text)
        chosen = {**_repetition(rule), **_end(rule, zone), "interval": rule.interval}
        if "repeats" in chosen and parse_rule(rule_from_form_values(chosen, zone)) == rule:
            return chosen
    return other


def rule_in_words(text: str, zone: ZoneInfo) -> str:
    """Return a series' rule in words, such as “Every 2 weeks on Monday and Friday”; quote a rule too complex for that."""
    chosen = form_values_of_rule(text, zone)
    if chosen["repeats"] == OTHER:
        return _("By the rule %(rule)s") % {"rule": text}
    every = _repetition_in_words(chosen)
    if chosen["ends"] == ON_DATE:
        return _("%(every)s, until %(date)s") % {"every": every, "date": format_date(chosen["until"], "j F Y")}
    if chosen["ends"] == AFTER_COUNT:
        words = ngettext("%(every)s, %(count)d time", "%(every)s, %(count)d times", chosen["count"])
        return words % {"every": every, "count": chosen["count"]}
    return every


def _repetition_in_words(chosen: Mapping[str, Any]) -> str:
    count = chosen["interval"]
    match chosen["repeats"]:
        case "daily":
            return ngettext("Every day", "Every %(count)d days", count) % {"count": count}
        case "weekly":
            names = get_text_list([str(WEEKDAY_NAMES[day]) for day in chosen["weekdays"]], _("and"))
            words = ngettext("Every week on %(days)s", "Every %(count)d weeks on %(days)s", count)
            return words % {"count": count, "days": names}
        case "month-day" if chosen["month_day"] == -1:
            words = ngettext("Every month on the last day", "Every %(count)d months on the last day", count)
            return words % {"count": count}
        case "month-day":
            words = ngettext("Every month on day %(day)d", "Every %(count)d months on day %(day)d", count)
            return words % {"count": count, "day": chosen["month_day"]}
    words = ngettext("Every month on the %(place)s %(weekday)s", "Every %(count)d months on the %(place)s %(weekday)s", count)
    place, weekday = _PLACES_IN_RULE[chosen["place"]], WEEKDAY_NAMES[chosen["place_weekday"]]
    return words % {"count": count, "place": place, "weekday": weekday}


def _repetition(rule: RecurrenceRule) -> dict[str, Any]:
    days, month_days = rule.weekdays, rule.lists.get("BYMONTHDAY", ())
    if rule.frequency == "DAILY":
        return {"repeats": DAILY}
    if rule.frequency == "WEEKLY" and days:
        return {"repeats": WEEKLY, "weekdays": [WEEKDAYS[day] for day, _ in sorted(days)]}
    if rule.frequency == "MONTHLY" and len(month_days) == 1 and not days:
        return {"repeats": MONTH_DAY, "month_day": month_days[0]}
    if rule.frequency == "MONTHLY" and len(days) == 1 and str(days[0][1]) in WEEKDAY_ORDINALS:
        return {"repeats": MONTH_WEEKDAY, "place": str(days[0][1]), "place_weekday": WEEKDAYS[days[0][0]]}
    return {}


def _end(rule: RecurrenceRule, zone: ZoneInfo) -> dict[str, Any]:
    if rule.count is not None:
        return {"ends": AFTER_COUNT, "count": rule.count}
    if rule.until is not None:
        last: date = rule.until.astimezone(zone).date()
        return {"ends": ON_DATE, "until": last}
    return {"ends": NEVER}
