"""`manage.py rotate_encryption`: encrypts every stored secret again with the first key of the setting ENCRYPTION_KEYS."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.db.rotation import reencrypt_stored_secrets


class Command(BaseCommand):
    """The command `manage.py rotate_encryption`, which operators run when they replace the encryption key.

    Usage: put the new key first, restart all processes, run this until it finds nothing, then remove the old key.
    It may be interrupted and run again at any time. Exits with an error if there are values that no key decrypts.
    """

    help = "Encrypts every secret with the first of ENCRYPTION_KEYS, in batches, while the service runs."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="count values encrypted with other keys, change nothing")

    def handle(self, *args: Any, dry_run: bool, **options: Any) -> None:
        found = reencrypt_stored_secrets(dry_run=dry_run, report=lambda field: self.stderr.write(str(field)))
        for field in found:
            self.stdout.write(str(field))
        left = sum(field.renewed for field in found)
        unreadable = sum(field.unreadable for field in found)
        if unreadable:
            raise CommandError(f"No key decrypts {unreadable} values: a key is missing from ENCRYPTION_KEYS.")
        if left:
            words = "values use another key" if dry_run else "values were encrypted again; run this once more"
            self.stdout.write(f"{left:,} {words}. Keep all keys until a run finds none.")
        else:
            self.stdout.write("Every value uses the first key. Remove the other keys a week after it became the first.")
