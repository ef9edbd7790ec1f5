"""`manage.py add_program`: create the user of a program that calls the API with OAuth client credentials tokens."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from workspaces import selectors
from workspaces.models import User
from workspaces.sign_in.oidc_claims import InvalidSubject, identity_from_claims
from workspaces.sign_in.provider import ProviderUnavailable, configured_provider


class Command(BaseCommand):
    """The command that creates the user of a program that calls the API.

    The program's own token creates no user.
    """

    help = "Create the user of a program whose tokens OIDC_ALLOW_CLIENT_CREDENTIALS admits."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("subject", help="the `sub` of the program's tokens, usually its client id")
        parser.add_argument("--name", required=True, help="the program's display name")

    def handle(self, *args: Any, subject: str, name: str, **options: Any) -> None:
        if not settings.OIDC_ISSUER or not settings.OIDC_ALLOW_CLIENT_CREDENTIALS:
            raise CommandError("Set OIDC_ISSUER and OIDC_ALLOW_CLIENT_CREDENTIALS=true first.")
        try:
            identity = identity_from_claims(
                configured_provider().discovery_document["issuer"], {"sub": subject, "name": name}
            )
        except (ProviderUnavailable, InvalidSubject) as error:
            raise CommandError(str(error)) from error
        existing = selectors.user_of_identity(issuer=identity.issuer, subject=subject)
        if existing:
            raise CommandError(f"This subject already has a user: {existing.id}.")
        user = User.objects.create_user(
            display_name=identity.display_name, identity_issuer=identity.issuer, identity_subject=subject
        )
        self.stdout.write(f"Created {user.id} for {subject} of {identity.issuer}.")
