"""`manage.py rotate_encryption`: seal every secret with the first of ENCRYPTION_KEYS."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.db.rotation import Rotated, rotate


class Command(BaseCommand):
    """Put the new key first, restart every process, run this until it finds nothing, then take the old key away.

    It may be stopped and run again at any time. Ends with an error when there are values that no key opens.
    """

    help = "Seals every encrypted value with the first of ENCRYPTION_KEYS, in batches, while the service goes on."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="count what other keys have sealed, change nothing")

    def handle(self, *args: Any, dry_run: bool, **options: Any) -> None:
        found = rotate(dry_run=dry_run, say=self._tell)
        for field in found:
            self.stdout.write(self._line(field))
        left = sum(field.renewed for field in found)
        unreadable = sum(field.unreadable for field in found)
        if unreadable:
            raise CommandError(f"No key opens {unreadable} values: a key is missing from ENCRYPTION_KEYS.")
        if left:
            words = "values are sealed with another key" if dry_run else "values were sealed anew; run this once more"
            self.stdout.write(f"{left:,} {words}. Keep all keys until a run finds none.")
        else:
            self.stdout.write(
                "Every value is sealed with the first key. The others may go, a week after it came first."
            )

    def _tell(self, field: Rotated) -> None:
        """Progress, apart from the figures."""
        self.stderr.write(self._line(field))

    def _line(self, field: Rotated) -> str:
        return (
            f"{field.name}: {field.values:,} values, {field.renewed:,} of another key, {field.unreadable:,} unreadable"
        )
