"""`manage.py run_retention`: deletes rows that are older than their retention period or, in a dry run, counts them."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.console.retention_run import NEVER_DELETED, SCHEDULED_RUN_SECONDS, count_expired_rows_by_rule, run_retention


class Command(BaseCommand):
    """The command `manage.py run_retention`, which deletes expired rows, or only counts them, and prints their numbers."""

    help = "Deletes expired rows: purged workspaces, old audit entries, deliveries, idempotency records and others."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="count expired rows, delete nothing")
        parser.add_argument(
            "--seconds", type=float, default=SCHEDULED_RUN_SECONDS, help="maximum duration (default: %(default)s)"
        )

    def handle(self, *args: Any, dry_run: bool, seconds: float, **options: Any) -> None:
        found = count_expired_rows_by_rule() if dry_run else run_retention(seconds=seconds, report=self.stderr.write)
        for name, rows in found.rows.items():
            self.stdout.write(f"{rows:>12,}  {name}")
        for line in NEVER_DELETED:
            self.stdout.write(f"{'kept':>12}  {line}")
        if found.faults:
            raise CommandError(f"Failed rules, see the log: {', '.join(found.faults)}.")
        if not found.complete:
            raise CommandError(f"Not all expired rows were deleted within {seconds:g} seconds; run this again.")
