"""Runs retention for the console, /ops and the schedule: deletes expired rows by all rules in small batches."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from django.conf import settings
from django.db import DatabaseError
from django.utils.module_loading import import_string
from django.utils.translation import gettext_noop

from auditlog.services import record_entry
from config.api.caller import Caller, require_operator
from config.api.plan import ResourcePlan, accept_plan
from config.console import status
from config.db.retention import RetentionRule

logger = logging.getLogger(__name__)
BATCH = 500
SCHEDULED_RUN_SECONDS, OPERATOR_RUN_SECONDS = 600.0, 20.0
# Data that no rule deletes; shown with every report. The console translates it, commands and the API do not.
NEVER_DELETED = (
    gettext_noop("post groups of existing workspaces: permanently"),
    gettext_noop("ledger, counters, usage and usage reports: permanently, without names of people"),
    gettext_noop("audit entries of purged workspaces: until the end of their retention tier"),
)


@dataclass
class RetentionReport:
    """The report of a retention run that the console and /ops show: by rule, how many rows were or would be deleted.

    `complete`: no deletable row is left; a dry run does not check this and is always complete. `faults`: the rules that
    failed.
    """

    rows: dict[str, int] = field(default_factory=dict)
    complete: bool = True
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return ", ".join(f"{name} {rows}" for name, rows in self.rows.items() if rows) or "nothing"


def _report_nothing(line: str) -> None:
    """Ignore a line about the progress of a retention run (the default of its argument `report`)."""


def retention_rules() -> list[RetentionRule]:
    """Return an instance of each retention rule in settings.RETENTION, in the order in which they run."""
    return [import_string(path)() for path in settings.RETENTION]


def count_expired_rows_by_rule() -> RetentionReport:
    """Count the expired rows of each retention rule for the console, including rows that cannot be deleted yet."""
    return RetentionReport({rule.name: rule.count() for rule in retention_rules()})


def run_retention(
    *, seconds: float = SCHEDULED_RUN_SECONDS, report: Callable[[str], None] = _report_nothing
) -> RetentionReport:
    """Run retention for at most `seconds`: delete expired rows by all rules; the next run deletes what is left.

    A rule that fails is skipped for the rest of this run; the other rules continue.
    """
    deadline = time.monotonic() + seconds
    rules = retention_rules()
    result = RetentionReport({rule.name: 0 for rule in rules}, complete=False)
    while not result.complete and time.monotonic() < deadline:
        deleted = [_purge(rule, result, report) for rule in rules if rule.name not in result.faults]
        # Another round if rows were deleted, because that may make rows of another rule deletable.
        result.complete = not any(deleted)
    result.complete = result.complete and not result.faults
    if result.complete:
        status.record_heartbeat(status.RETENTION)
    logger.info("Retention: %s.", result)
    return result


def run_retention_for_operator(*, caller: Caller, dry_run: bool = False) -> RetentionReport:
    """Run retention for an operator, for at most 20 s, or count in a dry run. Raises Forbidden, PlanChanged."""
    require_operator(caller)
    # Rows expire all the time, so a plan with their numbers would soon be out of date.
    accept_plan(ResourcePlan("ops.run_retention", "", None, {"rules": [rule.name for rule in retention_rules()]}))
    result = count_expired_rows_by_rule() if dry_run else run_retention(seconds=OPERATOR_RUN_SECONDS)
    record_entry(
        caller=caller,
        operation="ops.run_retention",
        resource_type="retention",
        dry_run=dry_run,
        metadata={name: rows for name, rows in result.rows.items() if rows},
    )
    return result


def _purge(rule: RetentionRule, result: RetentionReport, report: Callable[[str], None]) -> bool:
    """Delete one batch of a rule's expired rows in a retention run and report it; return whether any row was deleted."""
    try:
        deleted = rule.purge(BATCH)
    except DatabaseError:
        logger.exception("The retention rule %s failed.", rule.name)
        result.faults.append(rule.name)
        return False
    result.rows[rule.name] += deleted
    if deleted:
        report(f"{rule.name}: {result.rows[rule.name]} rows")
    return deleted > 0
