"""What operators set going at the payment processor."""

from __future__ import annotations

from dataclasses import asdict

from auditlog.services import record
from billing.plans import is_paid
from billing.services.reconcile import Reconciled, reconcile
from config.api import budget
from config.api.caller import Caller, require_operator
from workspaces.customers import customer_workspaces


def reconcile_now(*, caller: Caller, dry_run: bool = False) -> Reconciled:
    """The nightly look, at once; a dry run tells only how many workspaces it would ask the processor about.

    `complete` is false when the processor did not answer: then the beat takes the look up within the hour. Raises
    Forbidden (no operator), RateLimited.
    """
    require_operator(caller)
    if dry_run:
        found = Reconciled(workspaces=customer_workspaces(deleted=False).count() if is_paid() else 0)
    else:
        with budget.outside_threads.held(caller.actor_id):  # with many customers it takes longer than the deadline
            found = reconcile()
    record(
        caller=caller,
        operation="ops.reconcile_billing",
        resource_type="billing",
        dry_run=dry_run,
        metadata={} if dry_run else asdict(found),
    )
    return found
