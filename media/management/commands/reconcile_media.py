"""The command `manage.py reconcile_media`, which finds differences between the media storage and the database."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.api.errors import ServiceUnavailable
from media.services import correct_and_yield_wrong_counters, find_orphaned_and_missing_files, remove_files_without_row


class Command(BaseCommand):
    """The command that lists stored media files without a database row and assets without a file.

    With --remove, it deletes the files without a row. It always corrects the quota counters.
    """

    help = "Lists stored files without a media asset and media assets without a file, and recounts the usage of each library."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--remove", action="store_true", help="delete the files without a row (at least an hour old)")

    def handle(self, *args: Any, remove: bool, **options: Any) -> None:
        try:
            files, assets = find_orphaned_and_missing_files(self._report_progress)
            for key in files:
                self.stdout.write(f"file without a row: {key}")
            for media_id in assets:
                self.stdout.write(f"asset without its file: {media_id}")
            removed = remove_files_without_row(files, self._report_progress) if remove else 0
        except ServiceUnavailable as error:
            raise CommandError(error.message) from error
        for workspace_id, before, after in correct_and_yield_wrong_counters():
            self.stdout.write(f"usage of {workspace_id} corrected from {before} to {after} bytes")
        self.stdout.write(f"{len(files)} files without a row ({removed} removed), {len(assets)} assets without their file.")

    def _report_progress(self, line: str) -> None:
        """Write the progress of the media reconciliation to stderr; its findings go to stdout."""
        self.stderr.write(line)
