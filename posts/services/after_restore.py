"""What a restored database cannot know: which of its posts went out after the dump was taken.

What was due until the old database stopped may stand at its platform, whatever its row says here. Nowhere would it be
harmless to send it again: even where a post goes out under a key of our own, that key was made after the dump. So nothing
of it goes out by itself any more; it is unconfirmed, and somebody looks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, QuerySet
from django.utils import timezone

from auditlog.models import AuditEntry
from auditlog.services import record
from config.api.caller import WorkspaceStatus, operator_caller
from config.api.trace import start_trace
from config.jobs.due import claim_due
from posts.models import PostGroup, PostTarget
from posts.publishing import outcomes
from posts.publishing.engine import claimable
from posts.states import UNFINISHED_TARGET_STATUSES, GroupStatus

BATCH = 200
MESSAGE = "The service was restored from a backup that is older than this post's time, so it may be out already."


@dataclass(frozen=True)
class RestoreReport:
    """What a restored database holds. `stands_at`: the time of its last audit entry, which is when it was dumped, or a
    little before; None without any.

    `maybe_out` counts targets by platform that may have gone out since; `in_hand` are those of them that a worker holds at
    this moment; `later` those that are due after that, and `for_a_person` groups that go out only once somebody says so.
    """

    stands_at: datetime | None
    maybe_out: dict[str, int]
    in_hand: int
    later: int
    for_a_person: int


def inspect_restored_database(*, stopped_at: datetime) -> RestoreReport:
    """Count what the old service may have sent until it stopped; changes nothing."""
    maybe_out = _maybe_out(PostTarget.objects.all(), stopped_at)
    by_platform = maybe_out.order_by("platform").values_list("platform").annotate(count=Count("pk"))
    waiting = (GroupStatus.DRAFT, GroupStatus.PENDING_CONFIRMATION)
    return RestoreReport(
        stands_at=AuditEntry.objects.order_by("-pk").values_list("created_at", flat=True).first(),
        maybe_out=dict(by_platform),
        in_hand=maybe_out.filter(lease_until__gt=timezone.now()).count(),
        later=PostTarget.objects.filter(
            status__in=UNFINISHED_TARGET_STATUSES, due_at__gt=stopped_at, sandbox=False
        ).count(),
        for_a_person=PostGroup.objects.filter(status__in=waiting).count(),
    )


def mark_possibly_published(*, stopped_at: datetime, say: Callable[[int], None]) -> int:
    """Make unconfirmed what the old service may have sent until it stopped; returns how many targets.

    Each keeps its money and tells its event. Targets in a worker's hands are left out. A run that is cut off has only
    less to do the next time; `say` hears how many are done.
    """
    done = 0
    while claimed := claim_due(_maybe_out(claimable(), stopped_at), limit=BATCH, lease=outcomes.LEASE):
        for target in claimed:
            start_trace(target.group.trace_id)
            outcomes.unconfirmed(target, MESSAGE)
        done += len(claimed)
        say(done)
    start_trace()
    record(
        caller=operator_caller(),
        operation="ops.after_restore",
        resource_type="post_target",
        metadata={"unconfirmed": done, "stopped_at": stopped_at.isoformat()},
    )
    return done


def _maybe_out(targets: QuerySet[PostTarget], stopped_at: datetime) -> QuerySet[PostTarget]:
    """Those of real accounts; nothing is published for a deleted workspace, before a dump or after it."""
    return targets.filter(status__in=UNFINISHED_TARGET_STATUSES, due_at__lte=stopped_at, sandbox=False).exclude(
        group__workspace__status=WorkspaceStatus.DELETED
    )
