"""Sends the notices of new events by e-mail and to channels; each receiver gets an event at most once.

Notices are created in one transaction with the digest's due time, and settled in one transaction with the queued messages.
A worker that dies in between therefore loses nothing, and several workers may run this at once.
"""

from __future__ import annotations

import logging

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import get_language

from config.api.caller import WorkspaceStatus
from config.notices.channels.queue import queue_notice_for_channels
from config.notices.choices import notice_recipients
from config.notices.creation import BATCH_SIZE, create_notices_of_next_events
from config.notices.emails import build_email_or_none
from config.notices.models import MIN_PAUSE, Digest, Notice, NoticeKind
from config.pages.language import use_language_of
from workspaces.services import MailMessage, queue_mail

logger = logging.getLogger(__name__)
MAX_DIGESTS_PER_RUN = 1000  # the next run sends the others


def create_and_queue_notices() -> int:
    """Send notices: create those of new events, then queue due digests for e-mail and channels; return how many."""
    for kind in NoticeKind:
        while create_notices_of_next_events(kind) == BATCH_SIZE:
            pass
    sent = 0
    while sent < MAX_DIGESTS_PER_RUN and queue_next_digest():
        sent += 1
    return sent


def queue_next_digest() -> bool:
    """Send the most overdue digest of notices: queue it, or schedule a retry if that fails; return False if none.

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
    """Queue a digest for each member and channel that wants it, and mark its notices as settled (reported or resolved)."""
    now = timezone.now()
    notices = Notice.objects.filter(workspace=digest.workspace_id, kind=digest.kind, settled_at=None)
    message = build_email_or_none(NoticeKind(digest.kind), digest.workspace, notices)
    sent = message is not None and _queue_for_people_and_channels(digest, notices, message)
    notices.update(settled_at=now)
    digest.mark_sent_or_skipped_unsaved(now, sent=sent)
    digest.save()


def _queue_for_people_and_channels(digest: Digest, notices: QuerySet[Notice], english: MailMessage) -> bool:
    """Queue a digest of notices for each person and channel in their languages; return False if nobody wants it.

    `english` is the digest in English.
    """
    kind = NoticeKind(digest.kind)
    by_language = {settings.LANGUAGE_CODE: english}

    def build_message() -> MailMessage:
        """Return the notice digest in the current language, or the English one if all its notices are resolved by now."""
        language = get_language() or settings.LANGUAGE_CODE
        if language not in by_language:
            by_language[language] = build_email_or_none(kind, digest.workspace, notices) or english
        return by_language[language]

    people = notice_recipients(workspace_id=digest.workspace_id, kind=kind)
    for person in people:
        with use_language_of(person):
            queue_mail(to=person.email, message=build_message())
    in_channels = queue_notice_for_channels(workspace_id=digest.workspace_id, kind=kind, build_message=build_message)
    return bool(people) or in_channels
