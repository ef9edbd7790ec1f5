"""`manage.py after_restore`: keep a restored database from sending again what went out after its dump."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from posts.services.after_restore import RestoreReport, inspect_restored_database, mark_possibly_published


class Command(BaseCommand):
    """Says what may have gone out since the dump; with --apply these targets become unconfirmed.

    Ends with an error while a worker is at work: it would be sending them at this moment.
    """

    help = "Run it after a dump was restored, before any worker starts: marks as unconfirmed what may be out already."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--apply", action="store_true", help="mark them; without it nothing is changed")
        parser.add_argument(
            "--stopped-at",
            help="when the service on the old database stopped, such as 2026-11-20T14:05:00Z (default: now). "
            "What was due later cannot have gone out, and goes out when the workers start.",
        )

    def handle(self, *args: Any, apply: bool, stopped_at: str | None, **options: Any) -> None:
        until = _time(stopped_at) if stopped_at else timezone.now()
        found = inspect_restored_database(stopped_at=until)
        if found.stands_at and found.stands_at > until:
            raise CommandError(f"The database itself is of {found.stands_at:%F %T} UTC, after --stopped-at.")
        self._tell(found, until)
        if found.in_hand:
            raise CommandError(
                f"A worker holds {found.in_hand} of them. Stop all workers, wait 20 seconds, then run this again."
            )
        if apply:
            done = mark_possibly_published(stopped_at=until, say=self._tell_progress)
            self.stdout.write(f"{done:,} targets are unconfirmed now. The workers may start.")
        elif found.maybe_out:
            self.stdout.write("Nothing was changed. With --apply they become unconfirmed: nothing sends them again.")

    def _tell(self, found: RestoreReport, until: datetime) -> None:
        known = f"{found.stands_at:%F %T} UTC, its last audit entry" if found.stands_at else "an unknown time"
        self.stdout.write(f"The database is of {known}. May have gone out since, until {until:%F %T} UTC:")
        for platform, count in found.maybe_out.items():
            self.stdout.write(f"{count:>9,}  {platform}")
        if not found.maybe_out:
            self.stdout.write(f"{'none':>9}")
        self.stdout.write("As they stood then, whatever was cancelled, moved, edited or released since:")
        self.stdout.write(f"{found.later:>9,}  targets are due later and go out at their time")
        self.stdout.write(f"{found.for_a_person:>9,}  groups are drafts or wait for a confirmation")

    def _tell_progress(self, done: int) -> None:
        """Apart from the figures."""
        self.stderr.write(f"{done:,} done")


def _time(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(f"--stopped-at {text} is no time such as 2026-11-20T14:05:00Z.") from None
    if at.tzinfo is None:
        raise CommandError("--stopped-at needs its offset, such as the Z of 2026-11-20T14:05:00Z.")
    if at > timezone.now():
        raise CommandError(f"--stopped-at {text} is still to come.")
    return at.astimezone(UTC)
