"""`manage.py run_retention`: let go what is over, now, or say what would go."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.console.retention import NEVER_DELETED, SCHEDULED_RUN_SECONDS, count_expired, run_retention


class Command(BaseCommand):
    """Says how far it is, then what went by rule. Ends with an error when something that could go is left."""

    help = "Deletes what is over: purged workspaces, old audit entries, deliveries, idempotency records and the like."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="say what would go, and delete nothing")
        parser.add_argument(
            "--seconds", type=float, default=SCHEDULED_RUN_SECONDS, help="at the most (default: %(default)s)"
        )

    def handle(self, *args: Any, dry_run: bool, seconds: float, **options: Any) -> None:
        found = count_expired() if dry_run else run_retention(seconds=seconds, report=self._report)
        for name, rows in found.rows.items():
            self.stdout.write(f"{rows:>12,}  {name}")
        for line in NEVER_DELETED:
            self.stdout.write(f"{'kept':>12}  {line}")
        if found.faults:
            raise CommandError(f"Not carried out, the log says why: {', '.join(found.faults)}.")
        if not found.complete:
            raise CommandError(f"Not all went within {seconds:g} seconds; run this again.")

    def _report(self, line: str) -> None:
        """Progress, apart from the figures."""
        self.stderr.write(line)
