"""The choice of free slots for targets: each takes the first slot of its account that is not taken, or a particular one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import islice

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_noop

from accounts.models import ConnectedAccount
from accounts.slots import MIN_LEAD, SlotOccurrence, slot_occurrences
from config.api.errors import ValidationFailed
from posts.content import TargetInput
from posts.models import PostTarget
from posts.states import FREED_SLOT_STATUSES


class FreeSlots:
    """The free slots of accounts, for the targets of one plan: a slot that was chosen is not free any more.

    The slots of the targets `own` count as free, because the plan moves them. Slots before `after` are not chosen.
    """

    def __init__(self, own: Collection[str] = (), *, after: datetime | None = None) -> None:
        self._own, self._after = own, after
        self._taken: dict[str, set[datetime]] = {}

    def choose_next_or_raise(self, account: ConnectedAccount, field: str) -> datetime:
        """Return the first free slot of an account that is at least two minutes ahead. Raises ValidationFailed."""
        if not account.slots:
            raise ValidationFailed.for_field(
                field, gettext_noop("This account has no slots. Set some, or give a time."), "no_slots"
            )
        earliest, taken = timezone.now() + MIN_LEAD, self._taken_of(account)
        for occurrence in slot_occurrences(account, after=max(earliest, self._after or earliest)):
            if occurrence.at not in taken:
                taken.add(occurrence.at)
                return occurrence.at
        raise ValidationFailed.for_field(field, gettext_noop("All slots of the next 366 days are taken."), "no_free_slot")

    def take(self, account: ConnectedAccount, at: datetime, field: str) -> None:
        """Take a particular free slot of an account for a post. Raises ValidationFailed if another post has taken it."""
        if at in self._taken_of(account):
            raise ValidationFailed.for_field(field, gettext_noop("Another post has taken this slot."), "slot_taken")
        self._taken_of(account).add(at)

    def _taken_of(self, account: ConnectedAccount) -> set[datetime]:
        if account.id not in self._taken:
            targets = _targets_in_slots(account.id, timezone.now()).exclude(pk__in=self._own)
            self._taken[account.id] = set(targets.values_list("scheduled_at", flat=True))  # type: ignore[arg-type]
        return self._taken[account.id]


def choose_times_of_targets(
    scheduled_at: datetime | None,
    targets: Sequence[TargetInput],
    accounts: Mapping[str, ConnectedAccount],
    *,
    draft: bool,
    free: FreeSlots,
) -> list[datetime | None]:
    """Choose slots for targets that want one, and return the time of each target of a post; None for at once.

    A target with a slot and a time takes the slot at that time. A draft takes no slot, so that its targets with `slot` have
    no time yet. Raises ValidationFailed.
    """
    times = []
    for index, target in enumerate(targets):
        at = target.scheduled_at
        if target.slot and at is None:
            chosen = free.choose_next_or_raise(accounts[target.connected_account_id], f"targets[{index}].slot")
            times.append(None if draft else chosen)
            continue
        if target.slot and at:
            free.take(accounts[target.connected_account_id], at, f"targets[{index}].slot")
        times.append(at or scheduled_at)
    return times


def next_slots_with_occupants(account: ConnectedAccount, *, count: int) -> Sequence[tuple[SlotOccurrence, str | None]]:
    """Return the next slots of an account to choose from, each with the id of the post group that has taken it, if any."""
    occurrences = list(islice(slot_occurrences(account, after=timezone.now()), count))
    if not occurrences:
        return []
    taken = dict(_targets_in_slots(account.id, occurrences[0].at).values_list("scheduled_at", "group_id"))
    return [(each, taken.get(each.at)) for each in occurrences]


def taken_slots(account_ids: Collection[str], window: tuple[datetime, datetime]) -> set[tuple[str, datetime]]:
    """Return the slots that are not free: those that posts of these accounts take in a window of time."""
    targets = PostTarget.objects.filter(account__in=account_ids, slot=True).exclude(status__in=FREED_SLOT_STATUSES)
    in_window = targets.filter(scheduled_at__gte=window[0], scheduled_at__lt=window[1])
    return set(in_window.values_list("account_id", "scheduled_at"))  # type: ignore[arg-type]  # they have times


def _targets_in_slots(account_id: str, earliest: datetime) -> QuerySet[PostTarget]:
    targets = PostTarget.objects.filter(account=account_id, slot=True, scheduled_at__gte=earliest)
    return targets.exclude(status__in=FREED_SLOT_STATUSES)
