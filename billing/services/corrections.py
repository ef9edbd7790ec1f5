"""Services with which one operator proposes to correct a workspace's monthly spending, and another approves or rejects it.

Only the approval changes money: it adds an entry to the ledger, and with it changes the month's counter and usage total,
and creates the report to the payment processor. What is held for unfinished posts does not change.
"""

from __future__ import annotations

from datetime import date

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext_noop

from auditlog.services import record_entry
from billing.caps import first_day_of_utc_month, utc_day_of
from billing.models import CORRECTION_PLATFORM, Correction, LedgerEntry, MonthCounter, UsageTotal
from billing.services.usage_reporting import create_usage_reports_beyond_free_credit
from config.api.caller import Caller, WorkspaceStatus, require_operator
from config.api.errors import Forbidden, InvalidState, NotFound
from workspaces.models import Workspace

MAX_CORRECTION_CENTS = 100_000_00
Status = Correction.Status


def propose_correction(*, caller: Caller, workspace_id: str, month: date, cents: int, reason: str) -> Correction:
    """Propose a correction of what a workspace spent in a UTC month: a credit has negative cents. It changes no money yet.

    `month` is a day of the month. Raises Forbidden (not an operator), NotFound (also for a deleted workspace), and
    InvalidState for a future month, a correction of nothing or of more than 100,000 dollars, an empty reason, or a credit of
    more than was spent in the month.
    """
    require_operator(caller)
    month = month.replace(day=1)
    if not Workspace.objects.exclude(status=WorkspaceStatus.DELETED).filter(pk=workspace_id).exists():
        raise NotFound(gettext_noop("There is no such workspace."))
    if not reason.strip() or not 0 < abs(cents) <= MAX_CORRECTION_CENTS or month > first_day_of_utc_month(timezone.now()):
        raise InvalidState(
            gettext_noop("A correction needs a reason, an amount of up to 100,000 dollars, and a month that has begun.")
        )
    _require_spent(MonthCounter.objects.filter(holder_id=workspace_id, month=month).first(), cents)
    made = {"workspace_id": workspace_id, "month": month, "cents": cents, "reason": reason.strip()}
    with transaction.atomic():
        correction = Correction.objects.create(**made, proposed_by=caller.actor_id)
        _record(caller, "ops.propose_correction", correction)
    return correction


def approve_correction(*, caller: Caller, correction_id: str) -> LedgerEntry:
    """Approve another operator's correction: add it to the ledger, the month's usage and the reports to the processor.

    Raises Forbidden (not an operator, or the one who proposed it), NotFound, and InvalidState if it was decided before, has
    expired, or credits more than is left of what was spent in the month.
    """
    require_operator(caller)
    with transaction.atomic():
        correction = _locked_proposal(correction_id)
        if correction.proposed_by == caller.actor_id:
            raise Forbidden(gettext_noop("The operator who proposed a correction cannot approve it."))
        if not Workspace.objects.exclude(status=WorkspaceStatus.DELETED).filter(pk=correction.workspace_id).exists():
            raise NotFound(gettext_noop("The workspace was deleted."))
        _decide(correction, caller, Status.APPROVED)
        entry = _enter(correction)
        create_usage_reports_beyond_free_credit([entry])
        _record(caller, "ops.approve_correction", correction, workspace_id=correction.workspace_id)
    return entry


def withdraw_correction(*, caller: Caller, correction_id: str) -> None:
    """Withdraw one's own correction of a month's spending, or reject another operator's. No money changes.

    Raises Forbidden (not an operator), NotFound, and InvalidState if it was decided before or has expired.
    """
    require_operator(caller)
    with transaction.atomic():
        correction = _locked_proposal(correction_id)
        _decide(correction, caller, Status.WITHDRAWN)
        _record(caller, "ops.withdraw_correction", correction)


def _locked_proposal(correction_id: str) -> Correction:
    correction = Correction.objects.select_for_update().filter(pk=correction_id).first()
    if correction is None:
        raise NotFound(gettext_noop("There is no such correction."))
    if correction.status != Status.PROPOSED:
        raise InvalidState(gettext_noop("An operator has already approved or withdrawn this correction."))
    if correction.is_expired:
        raise InvalidState(
            gettext_noop("The correction was not approved within 14 days."),
            suggested_action=gettext_noop("Propose it again."),
        )
    return correction


def _decide(correction: Correction, caller: Caller, status: Correction.Status) -> None:
    correction.status, correction.decided_by, correction.decided_at = status, caller.actor_id, timezone.now()
    correction.save(update_fields=["status", "decided_by", "decided_at"])


def _enter(correction: Correction) -> LedgerEntry:
    """Add an approved correction to the billing ledger, and its cents to the counter and the usage totals of the month."""
    holder, cents = {"holder_id": correction.workspace_id, "month": correction.month}, correction.cents
    MonthCounter.objects.bulk_create([MonthCounter(**holder)], ignore_conflicts=True)
    counter = MonthCounter.objects.select_for_update().get(**holder)
    _require_spent(counter, cents)
    MonthCounter.objects.filter(pk=counter.pk).update(settled_cents=F("settled_cents") + cents)
    total = {
        "workspace_id": correction.workspace_id,
        "month": correction.month,
        "agent_id": "",
        "platform": CORRECTION_PLATFORM,
    }
    UsageTotal.objects.bulk_create([UsageTotal(**total)], ignore_conflicts=True)
    UsageTotal.objects.filter(**total).update(spend_cents=F("spend_cents") + cents)
    today = utc_day_of(timezone.now())
    return LedgerEntry.objects.create(
        workspace_id=correction.workspace_id,
        target_id=correction.pk,
        platform=CORRECTION_PLATFORM,
        round=1,
        kind=LedgerEntry.Kind.ADJUST,
        cents=cents,
        url_posts=0,
        month=correction.month,
        day=today if today.replace(day=1) == correction.month else correction.month,
    )


def _require_spent(counter: MonthCounter | None, cents: int) -> None:
    """Raise InvalidState if a correction is a credit of more cents than were spent in the month."""
    spent = counter.settled_cents if counter else 0
    if spent + cents < 0:
        raise InvalidState(
            gettext_noop("The credit exceeds what was spent in the month."),
            suggested_action=gettext_noop("Credit at most that, or another month."),
        )


def _record(caller: Caller, operation: str, correction: Correction, *, workspace_id: str | None = None) -> None:
    """Write the audit log entry of a billing correction; with `workspace_id`, the workspace's own audit log shows it."""
    metadata = {"workspace_id": correction.workspace_id, "month": f"{correction.month:%Y-%m}", "cents": correction.cents}
    record_entry(
        caller=caller,
        operation=operation,
        workspace_id=workspace_id,
        resource_type="correction",
        resource_id=correction.pk,
        metadata=metadata,
    )
