"""Helpers that spend money and read usage reports."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import time_machine
from django.db import transaction

from billing import services
from billing.models import LedgerEntry, UsageReport
from tests.billing.holds import hold_costs
from tests.billing.rows import MARCH, charges
from workspaces.models import Workspace

SEND = "meter_events.create"


def spend(workspace: Workspace, *targets: str, cents: int = 6, due: datetime = MARCH) -> None:
    """Hold and settle the targets one after another."""
    for target in targets:
        with transaction.atomic():
            held = charges(target, cents=cents)
            hold_costs(workspace_id=workspace.pk, agent_id=None, charges=held, due=due)
            services.settle_holds_as_spent(target_ids=[target])


def reports() -> list[tuple[str, int, str]]:
    """Return (target, cents, status) of all reports in the order of settlement."""
    rows = UsageReport.objects.order_by("entry_id")
    targets = dict(LedgerEntry.objects.values_list("pk", "target_id"))
    return [(targets[row.entry_id], row.cents, row.status) for row in rows]


def report_on(clock: time_machine.Traveller, until: timedelta) -> None:
    """Run `send_or_postpone_due_usage_reports` whenever a report is due, for a period of time."""
    end = datetime.now(UTC) + until
    while (due := UsageReport.objects.filter(due_at__lte=end).order_by("due_at").first()) is not None:
        clock.move_to(max(due.due_at or end, datetime.now(UTC)))
        services.send_or_postpone_due_usage_reports()
    clock.move_to(end)
