"""The occurrences of a recurrence rule in the local time of a zone.

python-dateutil finds the local times that a rule matches. This module limits the search, and converts the local times to
instants: a time that the clocks skip is the first instant after the gap, one that comes twice is the first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

from dateutil import rrule as dateutil_rrule

from accounts.local_time import first_instant_at_local_time
from posts.recurrence.rule import WEEKS_IN_MONTH, WEEKS_IN_YEAR, RecurrenceRule

SEARCHED_YEARS = 10  # how far ahead an occurrence must lie
CLOCK_CHANGE = timedelta(days=2)  # local time and UTC never differ by more, and no clock change is longer
DAY_PARTS = {"BYDAY", "BYMONTHDAY", "BYYEARDAY", "BYWEEKNO"}


@dataclass(frozen=True)
class Occurrence:
    """One occurrence of a rule: its instant in UTC, and the local time that the rule names."""

    at: datetime
    local: datetime


@dataclass(frozen=True)
class Recurrence:
    """A recurrence rule with its start in the local time of a zone, and the local times that are left out.

    The start bounds the rule and gives its time of day; it is an occurrence only if the rule matches it.
    """

    rule: RecurrenceRule
    starts_at: datetime
    zone: ZoneInfo
    exdates: Collection[datetime] = field(default_factory=frozenset)

    def occurrences(self, after: datetime, until: datetime) -> Iterator[Occurrence]:
        """Yield the occurrences of this Recurrence later than `after` and not later than `until`, in order, each once."""
        last_at: datetime | None = None
        for occurrence in self._nominal_occurrences(after, until):
            if occurrence.local not in self.exdates and occurrence.at != last_at:
                last_at = occurrence.at
                yield occurrence

    def next_occurrence(self, after: datetime) -> Occurrence | None:
        """Return the first occurrence of this Recurrence later than `after`, or None if there is none within ten years."""
        return next(self.occurrences(after, after + timedelta(days=366 * SEARCHED_YEARS)), None)

    def local_times_at(self, at: datetime) -> list[datetime]:
        """Return this Recurrence's local times at the instant `at`, also left-out ones; several where clocks skip an hour."""
        return [each.local for each in self._nominal_occurrences(at - timedelta(seconds=1), at) if each.at == at]

    def _nominal_occurrences(self, after: datetime, until: datetime) -> Iterator[Occurrence]:
        first, last = self._local(after) - CLOCK_CHANGE, self._local(until) + CLOCK_CHANGE
        matches = (local for local in self._matches(first, last) if local >= self.starts_at)
        for local in islice(matches, self.rule.count):
            if local > last:
                return
            if local < first:
                continue
            at = first_instant_at_local_time(local, self.zone)
            if at > until or (self.rule.until is not None and at > self.rule.until):
                return
            if at > after:
                yield Occurrence(at, local)

    def _matches(self, first: datetime, last: datetime) -> Iterator[datetime]:
        """Yield the local times from `first` to `last` that match the recurrence rule, and maybe some before or after."""
        rule, begin = self.rule, _start_of_period(self.rule, self.starts_at)
        if rule.count is None and first > begin:
            begin = _later_period(rule, begin, first)
        engine = _BoundedEngine(
            getattr(dateutil_rrule, rule.frequency),
            dtstart=begin,
            interval=rule.interval,
            wkst=rule.week_start,
            bysecond=0,
            **_engine_arguments(rule, self.starts_at),
        )
        years = max(last.year - begin.year, 0) + 2
        engine.periods_left = years if rule.frequency == "YEARLY" else 12 * years
        with suppress(_SearchEnded):
            yield from engine

    def _local(self, instant: datetime) -> datetime:
        return instant.astimezone(self.zone).replace(tzinfo=None)


def _engine_arguments(rule: RecurrenceRule, starts_at: datetime) -> dict[str, Any]:
    """Return dateutil's BY arguments for a recurrence rule; what the rule does not say comes from the start (RFC 5545)."""
    arguments: dict[str, Any] = {name.lower(): values for name, values in rule.lists.items()}
    if rule.weekdays:
        arguments["byweekday"] = [dateutil_rrule.weekday(day, number) for day, number in _engine_weekdays(rule)]
    arguments.setdefault("byhour", starts_at.hour)
    arguments.setdefault("byminute", starts_at.minute)
    given = {"BYDAY" if rule.weekdays else "", *rule.lists}
    if "BYWEEKNO" in given and not given & {"BYDAY", "BYMONTHDAY", "BYYEARDAY"}:
        arguments["byweekday"] = starts_at.weekday()
    elif not given & DAY_PARTS:
        if rule.frequency == "WEEKLY":
            arguments["byweekday"] = starts_at.weekday()
        elif rule.frequency in ("MONTHLY", "YEARLY"):
            arguments["bymonthday"] = starts_at.day
        if rule.frequency == "YEARLY":
            arguments.setdefault("bymonth", starts_at.month)
    return arguments


def _engine_weekdays(rule: RecurrenceRule) -> Iterator[tuple[int, int | None]]:
    """Yield a recurrence rule's weekdays for dateutil: if one has a number, such as the first Monday, all get numbers.

    Of days with and without numbers, dateutil would find only those that are both.
    """
    numbered = any(number for _, number in rule.weekdays)
    weeks = WEEKS_IN_MONTH if rule.frequency == "MONTHLY" or "BYMONTH" in rule.lists else WEEKS_IN_YEAR
    for day, number in rule.weekdays:
        yield from [(day, each) for each in range(1, weeks + 1)] if numbered and number is None else [(day, number)]


def _start_of_period(rule: RecurrenceRule, local: datetime) -> datetime:
    """Return the midnight at which the year, month, week or day (by the rule's frequency) of a local time begins."""
    midnight = datetime.combine(local, time())
    if rule.frequency == "YEARLY":
        return midnight.replace(month=1, day=1)
    if rule.frequency == "MONTHLY":
        return midnight.replace(day=1)
    return midnight - timedelta(days=(local.weekday() - rule.week_start) % 7) if rule.frequency == "WEEKLY" else midnight


def _later_period(rule: RecurrenceRule, begin: datetime, local: datetime) -> datetime:
    """Return the start of a period of the recurrence rule shortly before a local time, for the search for occurrences."""
    if rule.frequency in ("YEARLY", "MONTHLY"):
        months_in_step = rule.interval * (12 if rule.frequency == "YEARLY" else 1)
        elapsed = 12 * (local.year - begin.year) + local.month - begin.month
        years, month = divmod(begin.month - 1 + max(elapsed // months_in_step - 1, 0) * months_in_step, 12)
        return begin.replace(year=begin.year + years, month=month + 1)
    step = timedelta(days=rule.interval * (7 if rule.frequency == "WEEKLY" else 1))
    return begin + max((local - begin) // step - 1, 0) * step


class _SearchEnded(Exception):
    """Raised inside dateutil's search for a recurrence rule's dates, to stop the search after enough years."""


class _BoundedEngine(dateutil_rrule.rrule):
    """dateutil's search for a recurrence rule's dates, stopped after some years; alone, dateutil searches to the year 9999.

    For a rule that matches nothing, such as the 30th of February, that takes seconds. The engine reads `_byeaster`, which no
    rule here sets, once for each year or month that it comes to; this property counts the reads.
    """

    periods_left = 0

    @property
    def _byeaster(self) -> None:
        if self.periods_left < 0:
            raise _SearchEnded
        self.periods_left -= 1

    @_byeaster.setter
    def _byeaster(self, value: None) -> None:
        self.periods_left = 0
