"""Services after restoring a database: finding posts that may have been published since the database dump was taken.

Targets that were due before the old service stopped may be published, whatever their row says. Publishing them again is
never safe, even at idempotent platforms: the idempotency key was made after the dump. So they become unconfirmed, and a
person checks them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, QuerySet
from django.utils import timezone

from auditlog.models import AuditEntry
from auditlog.services import record_entry
from config.api.caller import WorkspaceStatus, operator_caller
from config.api.trace import start_or_continue_trace
from config.jobs.database_writer import DatabaseWriter
from posts.models import PostGroup, PostTarget
from posts.publishing.attempts import Attempt, claim_targets
from posts.publishing.decision import finish_unconfirmed
from posts.publishing.decision_types import TargetState
from posts.publishing.outcomes import record_decision
from posts.states import UNFINISHED_TARGET_STATUSES, GroupStatus

BATCH_SIZE = 200
POSSIBLY_PUBLISHED_MESSAGE = (
    "The service was restored from a backup older than this post's time, so the post may already be published."
)


@dataclass(frozen=True)
class RestoredDatabaseReport:
    """The report on a restored database: how many posts may be published already, are due later, or await approval.

    `database_time` is the time of its last audit entry, about when it was dumped; None without entries.
    `possibly_published` counts by platform the targets that may have been published since, and `claimed` is how many of them
    a worker holds now. `later` counts targets due later, `awaiting_person` groups that need a person's approval.
    """

    database_time: datetime | None
    possibly_published: dict[str, int]
    claimed: int
    later: int
    awaiting_person: int


def build_restore_report(*, stopped_at: datetime) -> RestoredDatabaseReport:
    """Return a report on a restored database, such as how many post targets may be published already; changes nothing."""
    targets = _possibly_published(PostTarget.objects.all(), stopped_at)
    by_platform = targets.order_by("platform").values_list("platform").annotate(count=Count("pk"))
    waiting = (GroupStatus.DRAFT, GroupStatus.PENDING_CONFIRMATION)
    return RestoredDatabaseReport(
        database_time=AuditEntry.objects.order_by("-pk").values_list("created_at", flat=True).first(),
        possibly_published=dict(by_platform),
        claimed=targets.filter(lease_until__gt=timezone.now()).count(),
        later=PostTarget.objects.filter(status__in=UNFINISHED_TARGET_STATUSES, due_at__gt=stopped_at, sandbox=False).count(),
        awaiting_person=PostGroup.objects.filter(status__in=waiting).count(),
    )


def mark_possibly_published_unconfirmed(*, stopped_at: datetime, report: Callable[[int], None]) -> int:
    """Mark post targets of a restored database as unconfirmed if they may already be published; returns how many.

    The money stays held and events are sent. Targets claimed by a worker are skipped. An interrupted run can be repeated.
    `report` is called with the number done so far.
    """
    done, writer = 0, DatabaseWriter()
    while claimed := claim_targets(_possibly_published(PostTarget.objects.all(), stopped_at), limit=BATCH_SIZE):
        for target in claimed:
            start_or_continue_trace(target.group.trace_id)
            done_so_far = target.stored_progress
            state = TargetState(
                "at_most_once", publishes=True, published=done_so_far.published, segments=len(done_so_far.segments)
            )
            record_decision(Attempt.for_claimed_target(target, writer), finish_unconfirmed(state, POSSIBLY_PUBLISHED_MESSAGE))
        done += len(claimed)
        report(done)
    start_or_continue_trace()
    record_entry(
        caller=operator_caller(),
        operation="ops.after_restore",
        resource_type="post_target",
        metadata={"unconfirmed": done, "stopped_at": stopped_at.isoformat()},
    )
    return done


def _possibly_published(targets: QuerySet[PostTarget], stopped_at: datetime) -> QuerySet[PostTarget]:
    """Filter a restored database's post targets to those that may have been published before the old service stopped."""
    return targets.filter(status__in=UNFINISHED_TARGET_STATUSES, due_at__lte=stopped_at, sandbox=False).exclude(
        group__workspace__status=WorkspaceStatus.DELETED
    )
