"""Slots: the weekly times of an account at which posts may be published, and the instants at which they occur."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from accounts.local_time import first_instant_at_local_time
from accounts.models import ConnectedAccount

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MAX_SLOTS = 100
MIN_LEAD = timedelta(minutes=2)  # a slot that is nearer is not taken any more
DAYS_AHEAD = 366
DAY = timedelta(days=1)


@dataclass(frozen=True)
class SlotOccurrence:
    """One occurrence of a slot: its instant, and the local time that the slot names, even if clocks skip it that day."""

    at: datetime
    local: datetime


def sorted_unique_slots(slots: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return an account's slots (weekly times) in the order of the week, without duplicates."""
    found = {(WEEKDAYS.index(each["weekday"]), each["time"]) for each in slots}
    return [{"weekday": WEEKDAYS[day], "time": at} for day, at in sorted(found)]


def slot_occurrences(account: ConnectedAccount, *, after: datetime) -> Iterator[SlotOccurrence]:
    """Yield the occurrences of an account's slots within the next 366 days, earliest first, each instant once."""
    if not account.slots or account.slot_timezone is None:
        return
    zone = ZoneInfo(account.slot_timezone)
    times: dict[int, list[time]] = {}
    for slot in account.slots:
        times.setdefault(WEEKDAYS.index(slot["weekday"]), []).append(time.fromisoformat(slot["time"]))
    first_day, last = after.astimezone(zone).date() - DAY, after - timedelta(microseconds=1)
    for day in (first_day + DAY * number for number in range(DAYS_AHEAD + 1)):
        for at in times.get(day.weekday(), ()):
            local = datetime.combine(day, at)
            if (instant := first_instant_at_local_time(local, zone)) > last:
                yield SlotOccurrence(instant, local)
                last = instant
