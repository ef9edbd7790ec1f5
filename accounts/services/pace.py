"""Rate limiting of posts to a connected account, so that they are published no faster than its platform allows.

Each account is a leaky bucket (config/api/gcra.py), and `paced_until` is the time when the bucket will be empty. A post
that has to wait reserves a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import ConnectedAccount
from accounts.platforms.types import PostingPace
from config.api.gcra import LeakyBucket
from config.jobs.fenced_updates import FencedUpdate, apply_fenced_updates


def reserve_publishing_times(wanted: Sequence[tuple[str, PostingPace]]) -> list[datetime]:
    """Reserve for each post a time at which it may be published without exceeding the platform's rate for the account.

    An account may occur several times. Takes three statements for any number of posts.
    """
    now = timezone.now()
    with transaction.atomic():
        rows = ConnectedAccount.objects.filter(pk__in={account_id for account_id, _ in wanted}).order_by("pk")
        # no_key: inserting posts that refer to these accounts neither waits for this lock nor delays it.
        accounts = {row.pk: row for row in rows.only("paced_until").select_for_update(no_key=True)}
        times = [_reserve_next_time(accounts[account_id], pace, now) for account_id, pace in wanted]
        apply_fenced_updates([FencedUpdate(account, {"paced_until": account.paced_until}) for account in accounts.values()])
    return times


def _reserve_next_time(account: ConnectedAccount, pace: PostingPace, now: datetime) -> datetime:
    """Reserve the next publishing time that an account's pace allows, without saving the account; return the time."""
    bucket = LeakyBucket(pace.seconds, pace.seconds * pace.burst)
    backlog = max(((account.paced_until or now) - now).total_seconds(), 0.0)
    account.paced_until = now + timedelta(seconds=backlog + bucket.interval)
    return now + timedelta(seconds=bucket.seconds_until_accepted(backlog))


def delay_posts_to_account(*, account_id: str, seconds: float) -> None:
    """Delay all posts to an account for `seconds`, because its platform asked for a pause.

    Posts with a time reserved earlier wait, too.
    """
    until = timezone.now() + timedelta(seconds=seconds)
    earlier = Q(held_until=None) | Q(held_until__lt=until)
    ConnectedAccount.objects.filter(earlier, pk=account_id).update(held_until=until)
