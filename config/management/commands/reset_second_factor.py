"""`manage.py reset_second_factor NAME`: removes the second factor of an operator who lost app and recovery codes."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.console.operators.second_factor_removal import NoSuchOperator, remove_second_factor_and_sessions


class Command(BaseCommand):
    """The command `manage.py reset_second_factor`, which removes an operator's second factor and all sign-ins."""

    help = "Removes an operator's second factor and ends their sessions. The next sign-in sets up a new one."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the operator's user name")

    def handle(self, *args: Any, name: str, **options: Any) -> None:
        try:
            had_one = remove_second_factor_and_sessions(name)
        except NoSuchOperator as error:
            raise CommandError(f"There is no operator with the user name {name!r}.") from error
        removed = "was removed" if had_one else "was not set up"
        self.stdout.write(f"The second factor of {name} {removed}; all sessions were ended.")
