"""`manage.py reconcile_media`: what storage and rows do not agree on."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.api.errors import ServiceUnavailable
from media.services import find_orphans, recount_usage, remove_files_without_row


class Command(BaseCommand):
    """Lists files without a row and assets without a file; the files can be removed. Corrects what quotas count."""

    help = "Lists stored files that no media asset has and media assets whose file is gone; counts each library again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--remove", action="store_true", help="remove the files without a row (those an hour old or older)"
        )

    def handle(self, *args: Any, remove: bool, **options: Any) -> None:
        try:
            found = find_orphans(self._tell)
            for key in found.files:
                self.stdout.write(f"file without a row: {key}")
            for media_id in found.assets:
                self.stdout.write(f"asset without its file: {media_id}")
            removed = remove_files_without_row(found.files, self._tell) if remove else 0
        except ServiceUnavailable as error:
            raise CommandError(error.message) from error
        for workspace_id, before, after in recount_usage():
            self.stdout.write(f"used of the quota of {workspace_id}: {after} bytes, not {before} (corrected)")
        self.stdout.write(
            f"{len(found.files)} files without a row ({removed} removed), {len(found.assets)} assets without their file."
        )

    def _tell(self, line: str) -> None:
        """Progress, apart from the findings."""
        self.stderr.write(line)
