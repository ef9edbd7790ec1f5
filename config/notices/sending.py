"""Stores new events as notices and sends them in digest e-mails, each event at most once to each person.

Notices are stored in one transaction with the digest's due time, and settled in one transaction with the queued e-mails.
A worker that dies in between therefore loses nothing, and several workers may run this at once.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from config.api.caller import WorkspaceStatus
from config.notices.choices import notice_recipients
from config.notices.emails import build_email
from config.notices.events import EventNeedingNotice, events_needing_notice
from config.notices.models import MIN_PAUSE, Digest, NewsCursor, Notice, NoticeKind
from workspaces.models import User
from workspaces.services import MailMessage, queue_mail

logger = logging.getLogger(__name__)
# Rows have a time before their transaction's commit, so each search starts earlier by more than any transaction lasts.
SEARCH_OVERLAP = timedelta(minutes=5)
MAX_LOOKBACK = timedelta(days=30)  # older occurrences are ignored after a long outage (see retention.py)
BATCH_SIZE = 500  # occurrences in one transaction
MAX_DIGESTS_PER_RUN = 1000  # the next run sends the others


def create_and_send_notices() -> int:
    """Store new events as e-mail notices, then send the digest e-mails that are due; return the number of due digests."""
    for kind in NoticeKind:
        while create_notices(kind) == BATCH_SIZE:
            pass
    sent = 0
    while sent < MAX_DIGESTS_PER_RUN and send_next_digest():
        sent += 1
    return sent


def create_notices(kind: NoticeKind) -> int:
    """Store the next events of a kind (at most BATCH_SIZE) as notices that wait to be sent; return how many were stored.

    Returns 0 while another worker stores events of this kind.
    """
    now = timezone.now()
    NewsCursor.objects.get_or_create(kind=kind, defaults={"seen_until": now})
    with transaction.atomic():
        cursor = NewsCursor.objects.select_for_update(skip_locked=True).filter(pk=kind).first()
        if cursor is None:
            return 0
        since = max(cursor.seen_until - SEARCH_OVERLAP, now - MAX_LOOKBACK)
        occurrences = events_needing_notice(kind, since=since, limit=BATCH_SIZE)
        if occurrences:
            _store_notices(kind, occurrences)
        if len(occurrences) < BATCH_SIZE:
            cursor.seen_until = now
            cursor.save()
    return len(occurrences)


def _store_notices(kind: NoticeKind, occurrences: Sequence[EventNeedingNotice]) -> None:
    now = timezone.now()
    workspace_ids = {each.workspace_id for each in occurrences}
    Digest.objects.bulk_create(
        [Digest(workspace_id=each, kind=kind) for each in sorted(workspace_ids)], ignore_conflicts=True
    )
    of_kind = Digest.objects.filter(kind=kind, workspace__in=workspace_ids)
    digests = list(of_kind.order_by("pk").select_for_update())
    Notice.objects.bulk_create(Notice(kind=kind, **vars(each)) for each in occurrences)
    for digest in digests:
        digest.schedule(now)
    Digest.objects.bulk_update(digests, ["due_at"])


def send_next_digest() -> bool:
    """Queue the e-mails of the most overdue digest, or schedule a retry if that fails; return False if there is none.

    It also returns False if other workers handle all due digests. If nothing is left to report, or nobody wants the digest,
    its notices are settled without an e-mail, and it returns True.
    """
    due = _due_digests()
    digest_id = due.values_list("pk", flat=True).first()  # reading first takes no write lock
    if digest_id is None:
        return False
    try:
        with transaction.atomic():
            digest = due.select_related("workspace").select_for_update(skip_locked=True, of=("self",)).first()
            if digest is None:
                return False
            digest_id = digest.pk
            _send_digest(digest)
    except Exception:
        logger.exception("The digest %s could not be sent; it is tried again in %s.", digest_id, MIN_PAUSE)
        Digest.objects.filter(pk=digest_id).update(due_at=timezone.now() + MIN_PAUSE)
    return True


def _due_digests() -> QuerySet[Digest]:
    """Return the digest e-mails that are due, except for workspaces that are deleted or paused by an operator."""
    unreachable = Q(workspace__status=WorkspaceStatus.DELETED) | Q(workspace__operator_paused_at__isnull=False)
    return Digest.objects.filter(due_at__lte=timezone.now()).exclude(unreachable).order_by("due_at", "pk")


def _send_digest(digest: Digest) -> None:
    """Queue a digest e-mail to each member who wants it, and mark its notices as settled (reported or resolved)."""
    now = timezone.now()
    notices = Notice.objects.filter(workspace=digest.workspace_id, kind=digest.kind, settled_at=None)
    kind = NoticeKind(digest.kind)
    email = build_email(kind, digest.workspace, notices)
    sent = email is not None and _queue_emails(email, notice_recipients(workspace_id=digest.workspace_id, kind=kind))
    notices.update(settled_at=now)
    digest.mark_sent_or_skipped(now, sent=sent)
    digest.save()


def _queue_emails(email: MailMessage, people: Sequence[User]) -> bool:
    """Queue a notice e-mail to each of the given users; return False if there are none."""
    for person in people:
        queue_mail(to=person.email, message=email)
    return bool(people)
