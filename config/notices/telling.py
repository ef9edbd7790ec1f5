"""Taking down what is new, and telling it: each occurrence in at most one e-mail to each person, and none forgotten.

News are taken down together with the turn at which they are told, and notices are settled together with the e-mails that
tell them, so whoever dies in between leaves only work to be done. Several workers at it at once do no harm.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from config.api.caller import WorkspaceStatus
from config.notices.choices import listeners
from config.notices.emails import Email, email_of
from config.notices.models import FIRST_PAUSE, Digest, NewsCursor, Notice, NoticeKind
from config.notices.news import News, news_of
from workspaces.models import User
from workspaces.services import queue_mail

logger = logging.getLogger(__name__)
# A transaction's rows bear a time of before its commit, so each look goes back further than any transaction lasts.
OVERLAP = timedelta(minutes=5)
LONGEST_LOOK = timedelta(days=30)  # after a long stand-still; what is older is no news (and see retention.py)
AT_ONCE = 500  # news in one transaction
MOST_DIGESTS = 1000  # of one round; the others are told in the next


def tell_notices() -> int:
    """Take down the news of every kind, then have the digests sent that are due; returns how many were seen to."""
    for kind in NoticeKind:
        while take_down(kind) == AT_ONCE:
            pass
    told = 0
    while told < MOST_DIGESTS and tell_next():
        told += 1
    return told


def take_down(kind: NoticeKind) -> int:
    """Make notices of up to AT_ONCE news of a kind; returns how many. None while another worker is at the same."""
    now = timezone.now()
    NewsCursor.objects.get_or_create(kind=kind, defaults={"seen_until": now})
    with transaction.atomic():
        cursor = NewsCursor.objects.select_for_update(skip_locked=True).filter(pk=kind).first()
        if cursor is None:
            return 0
        since = max(cursor.seen_until - OVERLAP, now - LONGEST_LOOK)
        news = news_of(kind, since=since, limit=AT_ONCE)
        if news:
            _keep(kind, news)
        if len(news) < AT_ONCE:
            cursor.seen_until = now
            cursor.save()
    return len(news)


def _keep(kind: NoticeKind, news: Sequence[News]) -> None:
    now = timezone.now()
    workspace_ids = {each.workspace_id for each in news}
    Digest.objects.bulk_create(
        [Digest(workspace_id=each, kind=kind) for each in sorted(workspace_ids)], ignore_conflicts=True
    )
    of_kind = Digest.objects.filter(kind=kind, workspace__in=workspace_ids)
    digests = list(of_kind.order_by("pk").select_for_update())
    Notice.objects.bulk_create(Notice(kind=kind, **vars(each)) for each in news)
    for digest in digests:
        digest.expect(now)
    Digest.objects.bulk_update(digests, ["due_at"])


def tell_next() -> bool:
    """See to the digest that has been due longest; whether there was one. A fault at one holds up none of the others."""
    due = _due()
    first = due.values_list("pk", flat=True).first()  # a look costs no write lock
    if first is None:
        return False
    try:
        with transaction.atomic():
            digest = due.select_related("workspace").select_for_update(skip_locked=True, of=("self",)).first()
            if digest is None:
                return False
            first = digest.pk
            _tell(digest)
    except Exception:
        logger.exception("The digest %s could not be told; it is tried again in %s.", first, FIRST_PAUSE)
        Digest.objects.filter(pk=first).update(due_at=timezone.now() + FIRST_PAUSE)
    return True


def _due() -> QuerySet[Digest]:
    """A deleted workspace is told nothing any more, and one that an operator has paused later."""
    away = Q(workspace__status=WorkspaceStatus.DELETED) | Q(workspace__operator_paused_at__isnull=False)
    return Digest.objects.filter(due_at__lte=timezone.now()).exclude(away).order_by("due_at", "pk")


def _tell(digest: Digest) -> None:
    """One e-mail to each listener, about what still stands of all that has come up."""
    now = timezone.now()
    notices = Notice.objects.filter(workspace=digest.workspace_id, kind=digest.kind, settled_at=None)
    kind = NoticeKind(digest.kind)
    email = email_of(kind, digest.workspace, notices)
    told = email is not None and _send(email, listeners(workspace_id=digest.workspace_id, kind=kind))
    notices.update(settled_at=now)
    digest.settle(now, told=told)
    digest.save()


def _send(email: Email, people: Sequence[User]) -> bool:
    """An e-mail to each of them; whether there was anybody."""
    for person in people:
        queue_mail(to=person.email, subject=email.subject, text=email.text)
    return bool(people)
