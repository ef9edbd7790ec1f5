"""Actions of operators on billing."""

from __future__ import annotations

from dataclasses import asdict

from auditlog.services import record
from billing.plans import is_paid
from billing.services.reconcile import ReconciliationResult, reconcile
from config.api import request_limits
from config.api.caller import Caller, require_operator
from workspaces.processor_customers import workspaces_with_customer


def reconcile_now(*, caller: Caller, dry_run: bool = False) -> ReconciliationResult:
    """Run the nightly reconciliation now; a dry run only counts the workspaces to compare.

    `complete` is False if the processor did not answer; the hourly task then repeats the reconciliation. Raises Forbidden
    (not an operator), RateLimited.
    """
    require_operator(caller)
    if dry_run:
        result = ReconciliationResult(workspaces=workspaces_with_customer(deleted=False).count() if is_paid() else 0)
    else:
        with request_limits.outbound_threads.held(caller.actor_id):  # may take longer than the deadline
            result = reconcile()
    record(
        caller=caller,
        operation="ops.reconcile_billing",
        resource_type="billing",
        dry_run=dry_run,
        metadata={} if dry_run else asdict(result),
    )
    return result
