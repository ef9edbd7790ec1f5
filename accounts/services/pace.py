"""Turns at an account: how fast it is posted to (GCRA: `paced_until` is when the account would be idle again)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import ConnectedAccount
from accounts.platforms.types import Pace
from config.jobs.many_rows import Write, update_rows


def take_turns(wanted: Sequence[tuple[str, Pace]]) -> list[datetime]:
    """Take the next turn of each of these accounts, in this order; the moments for which they are reserved, or now.

    An account may stand there several times. Three statements, however many.
    """
    now = timezone.now()
    with transaction.atomic():
        rows = ConnectedAccount.objects.filter(pk__in={account_id for account_id, _ in wanted}).order_by("pk")
        # no_key: those who write posts for these accounts, whose rows refer to them, need not wait, nor be waited for.
        accounts = {row.pk: row for row in rows.only("paced_until").select_for_update(no_key=True)}
        turns = [_next_turn(accounts[account_id], pace, now) for account_id, pace in wanted]
        update_rows([Write(account, {"paced_until": account.paced_until}) for account in accounts.values()])
    return turns


def _next_turn(account: ConnectedAccount, pace: Pace, now: datetime) -> datetime:
    step = timedelta(seconds=pace.seconds)
    idle_at = max(account.paced_until or now, now)
    account.paced_until = idle_at + step
    return max(idle_at - step * (pace.burst - 1), now)


def hold_back(*, account_id: str, seconds: float) -> None:
    """The platform told the account to wait: nothing goes out before, whatever turns were given out."""
    until = timezone.now() + timedelta(seconds=seconds)
    earlier = Q(held_until=None) | Q(held_until__lt=until)
    ConnectedAccount.objects.filter(earlier, pk=account_id).update(held_until=until)
