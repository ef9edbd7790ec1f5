"""A workspace's month as a statement for operators: posts and their prices, holds, releases, corrections, and reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import Count, Sum

from billing.models import Correction, LedgerEntry, MonthCounter, Subscription, UsageReport
from billing.selectors import spent_ledger_entries, subscription_of_workspace, usage_reports_of_month
from config.api.caller import Caller, require_operator
from workspaces.models import Workspace

Kind = LedgerEntry.Kind
STATEMENT_COLUMNS = ("line", "day", "platform", "agent_id", "id", "count", "cents", "note")
ENTRY_COLUMNS = ("day", "platform", "agent_id", "target_id", "cents")


@dataclass(frozen=True)
class PlatformCharges:
    """A platform's part of a month's statement: how many posts were published there, and their price in cents."""

    platform: str
    published: int
    cents: int


@dataclass(frozen=True)
class UsageReportTotalsOfStatus:
    """The usage reports of a month's statement with one status: how many, and their cents beyond the free credit."""

    status: str
    count: int
    cents: int


@dataclass(frozen=True)
class MonthStatement:
    """The statement of a workspace's month, in cents; of all its `corrections`, only the approved ones count.

    `held_cents` is what is held now for unfinished posts of the month. `reported` is what the payment processor was told, or
    will be. The fixed price of a plan is on the processor's invoices only.
    """

    workspace: Workspace
    month: date
    platforms: list[PlatformCharges]
    held_cents: int
    released_count: int
    released_cents: int
    corrections: list[Correction]
    reported: list[UsageReportTotalsOfStatus]
    subscription: Subscription | None

    @property
    def published_count(self) -> int:
        return sum(each.published for each in self.platforms)

    @property
    def published_cents(self) -> int:
        return sum(each.cents for each in self.platforms)

    @property
    def ever_reserved_cents(self) -> int:
        """Return the cents ever reserved for the month of this MonthStatement: still reserved, spent or released."""
        return self.published_cents + self.released_cents + self.held_cents

    @property
    def approved_corrections(self) -> list[Correction]:
        return [each for each in self.corrections if each.status == Correction.Status.APPROVED]

    @property
    def total_cents(self) -> int:
        """Return what the month of this MonthStatement cost: the prices of published posts and approved corrections."""
        return self.published_cents + sum(each.cents for each in self.approved_corrections)

    @property
    def cents_beyond_free_credit(self) -> int:
        """Return how many cents the month of this MonthStatement cost beyond the workspace's present free credit."""
        return max(0, self.total_cents - self.workspace.free_monthly_credit_cents)

    @property
    def reported_cents(self) -> int:
        return sum(each.cents for each in self.reported)


def build_month_statement(*, caller: Caller, workspace: Workspace, month: date) -> MonthStatement:
    """Return a workspace's statement for the month with this first day. Raises Forbidden if the caller is no operator."""
    require_operator(caller)
    holder: dict[str, Any] = {"workspace_id": workspace.pk, "month": month}
    charges = spent_ledger_entries(**holder).filter(kind=Kind.SETTLE).values_list("platform")
    released = _released(workspace, month).aggregate(count=Count("pk"), cents=Sum("cents", default=0))
    counter = MonthCounter.objects.filter(holder_id=workspace.pk, month=month).first()
    reported = usage_reports_of_month(**holder).order_by("status").values_list("status")
    return MonthStatement(
        workspace=workspace,
        month=month,
        platforms=[PlatformCharges(*row) for row in charges.order_by("platform").annotate(Count("pk"), Sum("cents"))],
        held_cents=counter.held_cents if counter else 0,
        released_count=released["count"],
        released_cents=released["cents"],
        corrections=list(Correction.objects.filter(**holder).order_by("pk")),
        reported=[UsageReportTotalsOfStatus(*row) for row in reported.annotate(Count("pk"), Sum("cents"))],
        subscription=subscription_of_workspace(workspace_id=workspace.pk),
    )


def statement_csv_lines(statement: MonthStatement) -> Iterator[Sequence[Any]]:
    """Yield the lines of a statement's CSV file, in the order of STATEMENT_COLUMNS: single charges, then sums."""
    spent = spent_ledger_entries(workspace_id=statement.workspace.pk, month=statement.month)
    yield from _lines_of_entries("published", spent.filter(kind=Kind.SETTLE))
    yield from _lines_of_entries("released", _released(statement.workspace, statement.month))
    for correction in statement.approved_corrections:
        yield ("correction", correction.decided_at, "", "", correction.pk, 1, correction.cents, correction.reason)
    for report in statement.reported:
        note = f"usage reports to the payment processor: {UsageReport.Status(report.status).label}"
        yield ("reported", None, "", "", "", report.count, report.cents, note)
    free = statement.workspace.free_monthly_credit_cents
    for line, count, cents, note in (
        ("reserved", None, statement.ever_reserved_cents, "ever held for posts of the month"),
        ("held", None, statement.held_cents, "held now for unfinished posts"),
        ("released", statement.released_count, statement.released_cents, "released in all"),
        ("published", statement.published_count, statement.published_cents, "published in all"),
        ("total", None, statement.total_cents, "published and corrected"),
        ("free_credit", None, free, "as set now"),
        ("due", None, statement.cents_beyond_free_credit, "beyond the free credit"),
    ):
        yield (f"sum_{line}", None, "", "", "", count, cents, note)


def _released(workspace: Workspace, month: date) -> Any:
    return LedgerEntry.objects.filter(workspace_id=workspace.pk, month=month, kind=Kind.RELEASE)


def _lines_of_entries(line: str, entries: Any) -> Iterator[Sequence[Any]]:
    for day, platform, agent_id, target_id, cents in entries.order_by("day", "pk").values_list(*ENTRY_COLUMNS).iterator(500):
        yield (line, day, platform, agent_id, target_id, 1, cents, "")
