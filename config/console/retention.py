"""Runs the retention retention_rules that settings name: round by round a small batch of each, until nothing is over or time is up."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from django.conf import settings
from django.db import DatabaseError
from django.utils.module_loading import import_string

from auditlog.services import record
from config.api.caller import Caller, require_operator
from config.console import status
from config.db.retention import RetentionRule

logger = logging.getLogger(__name__)
BATCH = 500
SCHEDULED_RUN_SECONDS, OPERATOR_RUN_SECONDS = 600.0, 20.0
# What no rule touches, told with every report.
NEVER_DELETED = (
    "post groups of workspaces that are there: for good",
    "ledger, counters, usage and its reports: for good, without names of people",
    "audit entries of purged workspaces: by their own tiers",
)


@dataclass
class RetentionReport:
    """What went by rule, or in a dry run would go by now. `complete`: nothing that could go is left; `faults`: the retention_rules
    that could not be carried out."""

    rows: dict[str, int] = field(default_factory=dict)
    complete: bool = True
    faults: list[str] = field(default_factory=list)


def _report_nothing(line: str) -> None:
    """Nobody listens."""


def retention_rules() -> list[RetentionRule]:
    return [import_string(path)() for path in settings.RETENTION]


def count_expired() -> RetentionReport:
    """What would go by now. Rows that something still holds back, such as a file that a storage keeps, count too."""
    return RetentionReport({rule.name: rule.count() for rule in retention_rules()})


def run_retention(
    *, seconds: float = SCHEDULED_RUN_SECONDS, report: Callable[[str], None] = _report_nothing
) -> RetentionReport:
    """Let go what is over, for `seconds` at the most; what is left waits for the next run. Two runs at once do no harm.

    A rule that meets a fault is left alone for this run, and holds up none of the others.
    """
    deadline = time.monotonic() + seconds
    every = retention_rules()
    done = RetentionReport({rule.name: 0 for rule in every}, complete=False)
    while not done.complete and time.monotonic() < deadline:
        gone = [_purge(rule, done, report) for rule in every if rule.name not in done.faults]
        done.complete = not any(gone)  # only then: what goes by one rule may set another's rows free
    done.complete = done.complete and not done.faults
    if done.complete:
        status.record_heartbeat(status.RETENTION)
    logger.info("Retention: %s.", ", ".join(f"{name} {rows}" for name, rows in done.rows.items() if rows) or "nothing")
    return done


def run_for_operator(*, caller: Caller, dry_run: bool = False) -> RetentionReport:
    """A run that an operator waits for, or what it would do, with its audit entry. Raises Forbidden for everybody else."""
    require_operator(caller)
    found = count_expired() if dry_run else run_retention(seconds=OPERATOR_RUN_SECONDS)
    record(
        caller=caller,
        operation="ops.run_retention",
        resource_type="retention",
        dry_run=dry_run,
        metadata={name: rows for name, rows in found.rows.items() if rows},
    )
    return found


def _purge(rule: RetentionRule, done: RetentionReport, report: Callable[[str], None]) -> bool:
    """One batch; whether anything went."""
    try:
        gone = rule.purge(BATCH)
    except DatabaseError:
        logger.exception("The retention of %s met a fault.", rule.name)
        done.faults.append(rule.name)
        return False
    done.rows[rule.name] += gone
    if gone:
        report(f"{rule.name}: {done.rows[rule.name]} rows")
    return gone > 0
