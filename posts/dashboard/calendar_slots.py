"""The empty slots of accounts in the days that the calendar shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import takewhile

from django.utils import timezone

from accounts.models import ConnectedAccount
from accounts.platforms.registry import platform_label
from accounts.slots import MIN_LEAD, slot_occurrences
from posts.day_lists import CalendarFilters
from posts.slot_choice import taken_slots

MAX_ACCOUNTS = 20
MAX_SLOTS_PER_DAY = {"week": 6, "day": 40, "list": 6}  # the month has no room for them


@dataclass(frozen=True)
class EmptySlot:
    """A slot of an account that no post has taken, as the calendar shows it."""

    account: ConnectedAccount
    at: datetime

    @property
    def local_time(self) -> datetime:
        return timezone.localtime(self.at)

    @property
    def label(self) -> str:
        """Return the platform and the handle of the account of this empty slot."""
        return f"{platform_label(self.account.platform)} {self.account.handle or self.account.external_id}"


def empty_slots_by_day(
    view: str, window: tuple[datetime, datetime], accounts: Sequence[ConnectedAccount], filters: CalendarFilters
) -> dict[date, list[EmptySlot]]:
    """Return the first empty slots of each local day in a view of the calendar, of at most MAX_ACCOUNTS accounts.

    A filter by text, state or agent hides them, since they are about posts. Runs at most one query.
    """
    shown = [each for each in accounts if each.slots and filters.account_id in (None, each.id)]
    shown = [each for each in shown if filters.platform in (None, each.platform)][:MAX_ACCOUNTS]
    begin = max(window[0], timezone.now() + MIN_LEAD)
    if not shown or view not in MAX_SLOTS_PER_DAY or begin >= window[1] or filters.text or filters.status or filters.agent_id:
        return {}
    taken = taken_slots([each.id for each in shown], (begin, window[1]))
    free = [
        EmptySlot(account, each.at)
        for account in shown
        for each in takewhile(lambda slot: slot.at < window[1], slot_occurrences(account, after=begin))
        if (account.id, each.at) not in taken
    ]
    by_day: dict[date, list[EmptySlot]] = {}
    for slot in sorted(free, key=lambda each: (each.at, each.account.id)):
        of_day = by_day.setdefault(slot.local_time.date(), [])
        if len(of_day) < MAX_SLOTS_PER_DAY[view]:
            of_day.append(slot)
    return by_day


def is_slot_of(account: ConnectedAccount, at: datetime) -> bool:
    """Return whether a time is a coming slot of an account, which a post that is dropped on it can take."""
    coming = slot_occurrences(account, after=max(at, timezone.now() + MIN_LEAD))
    return next((each.at == at for each in coming), False)
