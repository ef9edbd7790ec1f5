"""The nightly check of subscriptions, usage and ledger (billing reconciliation). It fixes differences or raises alarms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields

from django.utils import timezone

from auditlog.services import record_entry
from billing import selectors
from billing.errors import BillingUnavailable, UnknownToProcessor
from billing.models import BillingAlarm
from billing.services.alarms import AlarmKind, open_or_update_alarm, resolve_alarms_about, resolve_alarms_of_kind_except
from billing.services.subscriptions import ConcurrentUpdateError, fetch_and_apply_subscription
from billing.services.usage_reconciliation import resolve_and_compare_usage_reports
from billing.subscription_plans import has_payment_processor
from config.api import request_limits
from config.api.caller import Caller, require_operator
from config.api.plan import ResourcePlan, accept_plan
from workspaces.processor_customers import workspaces_having_customer_id

NIGHT_HOUR = 3  # hour of the day in UTC
BATCH_SIZE = 100
ProgressCallback = Callable[[str], None]


def _no_progress(line: str) -> None:
    """Ignore a progress message of the billing reconciliation, the default if the caller does not show progress."""


@dataclass(frozen=True)
class ReconciliationResult:
    """The result of a billing reconciliation: workspaces checked, subscriptions changed, usage differences, wrong counters.

    `drifting_months` counts the wrong counters. `complete` is False if the payment processor did not answer; the first three
    numbers may then be too low. In a dry run, `workspaces` counts those to check.
    """

    workspaces: int = 0
    subscriptions_changed: int = 0
    usage_differences: int = 0
    drifting_months: int = 0
    complete: bool = True

    def __str__(self) -> str:
        return ", ".join(f"{field.name} {getattr(self, field.name)}" for field in fields(self))


def reconcile_if_night_or_incomplete() -> ReconciliationResult | None:
    """Run the billing reconciliation if it is NIGHT_HOUR or the last run was incomplete.

    This is called every hour.
    """
    unfinished = BillingAlarm.objects.filter(kind=AlarmKind.RECONCILIATION, resolved_at=None).exists()
    return reconcile_billing() if unfinished or timezone.now().hour == NIGHT_HOUR else None


def reconcile_billing(progress: ProgressCallback = _no_progress) -> ReconciliationResult:
    """Compare subscriptions and usage with the payment processor, and the month counters with the billing ledger.

    `progress` gets progress lines. If the processor does not answer, an alarm stays open until a complete reconciliation.
    """
    workspaces = changed = differences = 0
    complete = True
    if has_payment_processor():
        try:
            workspaces, changed = reconcile_subscriptions(progress)
            differences = resolve_and_compare_usage_reports(progress)
            resolve_alarms_about(AlarmKind.RECONCILIATION, [""])
        except BillingUnavailable:
            complete = False
            open_or_update_alarm(
                AlarmKind.RECONCILIATION, "", "The processor does not answer; the reconciliation is repeated in an hour."
            )
    return ReconciliationResult(workspaces, changed, differences, raise_alarms_for_wrong_month_counters(progress), complete)


def reconcile_billing_for_operator(*, caller: Caller, dry_run: bool = False) -> ReconciliationResult:
    """Reconcile billing with the payment processor for an operator. A dry run only counts the workspaces to compare.

    `complete` is False if the processor did not answer; the hourly task then repeats the reconciliation. Raises Forbidden
    (not an operator), RateLimited, PlanChanged.
    """
    require_operator(caller)
    workspaces = workspaces_having_customer_id(deleted=False).count() if has_payment_processor() else 0
    # What the comparison changes depends on the processor's answers.
    accept_plan(ResourcePlan("ops.reconcile_billing", "", None, {"workspaces": workspaces}))
    if dry_run:
        result = ReconciliationResult(workspaces=workspaces)
    else:
        with request_limits.outbound_thread_limit.hold_thread(caller.actor_id):  # may take longer than the deadline
            result = reconcile_billing()
    record_entry(
        caller=caller,
        operation="ops.reconcile_billing",
        resource_type="billing",
        dry_run=dry_run,
        metadata={} if dry_run else asdict(result),
    )
    return result


def reconcile_subscriptions(progress: ProgressCallback = _no_progress) -> tuple[int, int]:
    """Reconcile subscriptions with the payment processor; returns how many workspaces were checked and how many changed.

    Checks the workspaces that are customers there and not deleted. A customer that the processor does not know raises an
    alarm. Raises BillingUnavailable.
    """
    checked = changed = 0
    last = ""
    while rows := list(workspaces_having_customer_id(deleted=False).filter(pk__gt=last)[:BATCH_SIZE]):
        for workspace in rows:
            try:
                customer_id = workspace.processor_customer_id
                changed += fetch_and_apply_subscription(workspace_id=workspace.pk, customer_id=customer_id)
                resolve_alarms_about(AlarmKind.CUSTOMER, [workspace.pk])
            except UnknownToProcessor:
                open_or_update_alarm(
                    AlarmKind.CUSTOMER, workspace.pk, f"The customer {customer_id} does not exist at the processor."
                )
            except ConcurrentUpdateError:  # events have just updated it
                continue
        checked, last = checked + len(rows), rows[-1].pk
        progress(f"Subscriptions: {checked} workspaces, {changed} had changed.")
    resolve_alarms_of_kind_except(AlarmKind.EVENTS, [])  # all subscriptions are up to date
    return checked, changed


def raise_alarms_for_wrong_month_counters(progress: ProgressCallback = _no_progress) -> int:
    """Compare the month counters with the ledger and raise a billing alarm for each difference; returns how many differ.

    Only a difference that is found twice counts, because money may move between the statements of one comparison.
    """
    first = selectors.find_wrong_month_counters()
    second = selectors.find_wrong_month_counters() if first else []
    different = {f"{drift.holder_id} {drift.month:%Y-%m}": drift for drift in first if drift in second}
    for subject, drift in different.items():
        detail = f"The month's counter says {_amounts_text(drift.counter)}, its ledger {_amounts_text(drift.ledger)}."
        open_or_update_alarm(AlarmKind.BOOKS, subject, detail)
    resolve_alarms_of_kind_except(AlarmKind.BOOKS, different)
    progress(f"Ledger: {len(different)} months differ.")
    return len(different)


def _amounts_text(amounts: selectors.MonthSums) -> str:
    return f"held {amounts.held_cents}, settled {amounts.settled_cents}, URL posts {amounts.url_posts}"
