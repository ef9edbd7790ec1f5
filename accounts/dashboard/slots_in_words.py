"""The slots (weekly publishing times) of an account in words, for dashboard pages."""

from __future__ import annotations

from django.utils.dates import WEEKDAYS as DJANGO_WEEKDAY_NAMES

from accounts.models import ConnectedAccount
from accounts.slots import WEEKDAYS

WEEKDAY_NAMES = dict(zip(WEEKDAYS, DJANGO_WEEKDAY_NAMES.values(), strict=True))  # translated by Django


def slots_in_words(account: ConnectedAccount) -> list[tuple[str, str]]:
    """Return an account's slots in words: the weekdays that have slots, with their times."""
    times = slot_times_text_by_weekday(account)
    return [(str(name), times[weekday].replace(" ", ", ")) for weekday, name in WEEKDAY_NAMES.items() if times[weekday]]


def slot_times_text_by_weekday(account: ConnectedAccount) -> dict[str, str]:
    """Return the times of an account's slots as one text for each weekday, such as `09:00 17:30`."""
    return {day: " ".join(slot["time"] for slot in account.slots if slot["weekday"] == day) for day in WEEKDAYS}
