"""Creates the e-mail notices of new events: each event becomes one notice, which sending.py reports in a digest e-mail."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from config.notices.events import NoticeToStore, find_events_needing_notice
from config.notices.models import Digest, NewsCursor, Notice, NoticeKind

# Rows have a time before their transaction's commit, so each search starts earlier by more than any transaction lasts.
SEARCH_OVERLAP = timedelta(minutes=5)
MAX_LOOKBACK = timedelta(days=30)  # older events are ignored after a long outage (see retention.py)
BATCH_SIZE = 500  # events in one transaction


def create_notices_of_next_events(kind: NoticeKind) -> int:
    """Create notices, which wait to be sent, of the next events of a kind (at most BATCH_SIZE); return how many.

    Returns 0 while another worker creates notices of this kind.
    """
    now = timezone.now()
    NewsCursor.objects.get_or_create(kind=kind, defaults={"seen_until": now})
    with transaction.atomic():
        cursor = NewsCursor.objects.select_for_update(skip_locked=True).filter(pk=kind).first()
        if cursor is None:
            return 0
        since = max(cursor.seen_until - SEARCH_OVERLAP, now - MAX_LOOKBACK)
        events = find_events_needing_notice(kind, since=since, limit=BATCH_SIZE)
        if events:
            _store_notices(kind, events)
        if len(events) < BATCH_SIZE:
            cursor.seen_until = now
            cursor.save()
    return len(events)


def _store_notices(kind: NoticeKind, events: Sequence[NoticeToStore]) -> None:
    now = timezone.now()
    workspace_ids = {each.workspace_id for each in events}
    Digest.objects.bulk_create(
        [Digest(workspace_id=each, kind=kind) for each in sorted(workspace_ids)], ignore_conflicts=True
    )
    of_kind = Digest.objects.filter(kind=kind, workspace__in=workspace_ids)
    digests = list(of_kind.order_by("pk").select_for_update())
    Notice.objects.bulk_create(Notice(kind=kind, **vars(each)) for each in events)
    for digest in digests:
        digest.set_due_at_if_null_unsaved(now)
    Digest.objects.bulk_update(digests, ["due_at"])
