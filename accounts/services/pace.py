"""Turns at an account: how fast it is posted to (GCRA: `paced_until` is when the account would be idle again)."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from accounts.models import ConnectedAccount
from accounts.platforms.types import Pace


def take_turn(*, account_id: str, pace: Pace) -> datetime | None:
    """Take the account's next turn: None when that is now, else the moment for which it is reserved."""
    now, step = timezone.now(), timedelta(seconds=pace.seconds)
    burst = step * (pace.burst - 1)
    rows = ConnectedAccount.objects.filter(pk=account_id)
    free = Q(paced_until=None) | Q(paced_until__lte=now + burst)
    idle_again = Greatest(Coalesce(F("paced_until"), now), now)
    if rows.filter(free).update(paced_until=idle_again + step):
        return None
    with transaction.atomic():
        idle_at = rows.select_for_update().values_list("paced_until", flat=True).get() or now
        rows.update(paced_until=idle_at + step)
    return max(idle_at - burst, now)


def hold_back(*, account_id: str, seconds: float) -> None:
    """The platform told the account to wait: nothing goes out before, whatever turns were given out."""
    until = timezone.now() + timedelta(seconds=seconds)
    earlier = Q(held_until=None) | Q(held_until__lt=until)
    ConnectedAccount.objects.filter(earlier, pk=account_id).update(held_until=until)
