"""`manage.py add_person`: create the user of a person who signs in by e-mail, such as the first workspace's owner."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from workspaces import selectors
from workspaces.models import User
from workspaces.services import is_sign_in_by_email_offered
from workspaces.sign_in.oidc_claims import normalized_email_or_empty


class Command(BaseCommand):
    """The command that creates the user of a person who signs in by e-mail without an invitation."""

    help = "Create the user of a person who signs in by a link in an e-mail (SIGN_IN_BY_EMAIL) without an invitation."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", help="the person's e-mail address, to which the links are sent")
        parser.add_argument("--name", default="", help="the person's display name")

    def handle(self, *args: Any, email: str, name: str, **options: Any) -> None:
        if not is_sign_in_by_email_offered():
            raise CommandError("Set EMAIL_URL first, and with OIDC_ISSUER also SIGN_IN_BY_EMAIL=true.")
        address = normalized_email_or_empty(email)
        if not address:
            raise CommandError("This is not a valid e-mail address.")
        existing = selectors.user_who_signs_in_by_email(email=address)
        if existing:
            raise CommandError(f"This address already has a user: {existing.id}.")
        user = User.objects.create_user(email=address, email_verified=True, display_name=name)
        self.stdout.write(f"Created {user.id}, who can now sign in at /dashboard/ with {address}.")
