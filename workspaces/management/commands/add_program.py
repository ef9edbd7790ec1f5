"""`manage.py add_program`: makes the user as which a program calls the API with tokens of the client credentials grant."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from workspaces import selectors
from workspaces.services import create_user
from workspaces.sign_in.claims import NobodyNamed, identity_in
from workspaces.sign_in.kept import ProviderAway
from workspaces.sign_in.provider import provider


class Command(BaseCommand):
    """Only an operator makes such a user: tokens make users of people alone."""

    help = "Makes the user of a program whose tokens OIDC_ALLOW_CLIENT_CREDENTIALS admits."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("subject", help="the `sub` of the program's tokens, usually its client id")
        parser.add_argument("--name", required=True, help="what the program is called in the service")

    def handle(self, *args: Any, subject: str, name: str, **options: Any) -> None:
        if not settings.OIDC_ISSUER or not settings.OIDC_ALLOW_CLIENT_CREDENTIALS:
            raise CommandError("Set OIDC_ISSUER and OIDC_ALLOW_CLIENT_CREDENTIALS=true first.")
        try:
            identity = identity_in(provider().document["issuer"], {"sub": subject, "name": name})
        except (ProviderAway, NobodyNamed) as error:
            raise CommandError(str(error)) from error
        known = selectors.person_of(issuer=identity.issuer, subject=subject)
        if known:
            raise CommandError(f"This subject has a user already: {known.id}.")
        made = create_user(
            email="", display_name=identity.display_name, identity_issuer=identity.issuer, identity_subject=subject
        )
        self.stdout.write(f"Made {made.id} for {subject} of {identity.issuer}.")
