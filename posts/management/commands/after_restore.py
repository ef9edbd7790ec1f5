"""`manage.py after_restore`: prevents a restored database from publishing posts a second time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from posts.services.after_restore import RestoredDatabaseReport, build_restore_report, mark_possibly_published_unconfirmed


class Command(BaseCommand):
    """Management command for a restored database: counts, or marks as unconfirmed, posts that may be published already.

    With --apply, it marks these posts as unconfirmed. Fails while a worker is running, since it could be publishing them.
    """

    help = "Run after restoring a dump and before starting workers: marks possibly published targets as unconfirmed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--apply", action="store_true", help="mark the targets; without it nothing is changed")
        parser.add_argument(
            "--stopped-at",
            help="when the service on the old database stopped, such as 2026-11-20T14:05:00Z (default: now). "
            "Targets due later were not published, and are published when the workers start.",
        )

    def handle(self, *args: Any, apply: bool, stopped_at: str | None, **options: Any) -> None:
        until = _parse_time(stopped_at) if stopped_at else timezone.now()
        found = build_restore_report(stopped_at=until)
        if found.database_time and found.database_time > until:
            raise CommandError(f"The database is from {found.database_time:%F %T} UTC, which is after --stopped-at.")
        self._report(found, until)
        if found.claimed:
            raise CommandError(
                f"A worker has claimed {found.claimed} of them. Stop all workers, wait 20 seconds, then run this again."
            )
        if apply:
            done = mark_possibly_published_unconfirmed(
                stopped_at=until, report=lambda count: self.stderr.write(f"{count:,} done")
            )
            self.stdout.write(f"{done:,} targets are now unconfirmed. You can start the workers.")
        elif found.possibly_published:
            self.stdout.write("Nothing was changed. With --apply they become unconfirmed and are not sent again.")

    def _report(self, found: RestoredDatabaseReport, until: datetime) -> None:
        since = f"{found.database_time:%F %T} UTC (its last audit entry)" if found.database_time else "an unknown time"
        self.stdout.write(f"The database is from {since}. May have been published since, until {until:%F %T} UTC:")
        for platform, count in found.possibly_published.items():
            self.stdout.write(f"{count:>9,}  {platform}")
        if not found.possibly_published:
            self.stdout.write(f"{'none':>9}")
        self.stdout.write("As of the dump, without later cancellations, edits and approvals:")
        self.stdout.write(f"{found.later:>9,}  targets are due later and will be published at their time")
        self.stdout.write(f"{found.awaiting_person:>9,}  groups are drafts or await confirmation")


def _parse_time(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(f"--stopped-at {text} is not a valid time. Use a format such as 2026-11-20T14:05:00Z.") from None
    if at.tzinfo is None:
        raise CommandError("--stopped-at needs a UTC offset, such as the Z in 2026-11-20T14:05:00Z.")
    if at > timezone.now():
        raise CommandError(f"--stopped-at {text} is in the future.")
    return at.astimezone(UTC)
