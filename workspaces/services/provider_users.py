"""Find or create the users of the identity provider, by (issuer, subject) and never by e-mail address."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from django.db import IntegrityError, transaction

from auditlog.services import record
from config.api.caller import Caller, operator_caller
from config.api.errors import Forbidden
from workspaces import selectors
from workspaces.models import EndedIdentity, User
from workspaces.services.users import create_user
from workspaces.sign_in.oidc_claims import Identity


def sign_in_user(*, identity: Identity, staff: bool, ip: str | None) -> User:
    """Return the user of a provider's identity at sign-in, creating the user or updating name, e-mail and operator status.

    `staff` says whether the provider makes the user an operator; False removes that status. Raises Forbidden for a
    closed account.
    """
    person = selectors.user_of_identity(issuer=identity.issuer, subject=identity.subject) or _create(identity)
    if not person.is_active:
        raise Forbidden("This account is closed.", suggested_action="Ask the operator of the service.")
    person.email, person.email_verified = identity.email, identity.email_verified
    person.display_name = identity.display_name or person.display_name
    person.is_staff = person.is_superuser = staff
    with transaction.atomic():
        person.save(update_fields=["email", "email_verified", "display_name", "is_staff", "is_superuser", "updated_at"])
        _record_sign_in(person, ip)
    return person


def user_for_token(*, identity: Identity, issued_at: int | None, make_user: bool) -> User | None:
    """Return the user of a verified access token; with `make_user`, create a user who does not exist yet.

    `issued_at` is in Unix seconds. Returns None for a closed account, for a token issued before the user was deleted, and
    for an unknown user without `make_user`.
    """
    person = selectors.user_of_identity(issuer=identity.issuer, subject=identity.subject)
    if person is None:
        if not make_user or _deleted_since(identity, issued_at):
            return None
        person = _create(identity)
    return person if person.is_active else None


def _record_sign_in(person: User, ip: str | None) -> None:
    """Write the audit entry of a sign-in; an operator's entry has the retention of operator actions."""
    caller = Caller(kind="user", actor_id=person.id, ip=ip)
    operation, metadata = "users.sign_in", {}
    if person.is_staff:
        caller = replace(operator_caller(ip), actor_id=person.id)
        operation, metadata = "operators.sign_in", {"by": "provider"}
    record(caller=caller, operation=operation, resource_type="user", resource_id=person.id, metadata=metadata)


def _create(identity: Identity) -> User:
    """Create the user, or return the one that another request has just created."""
    try:
        with transaction.atomic():
            return create_user(
                email=identity.email,
                email_verified=identity.email_verified,
                display_name=identity.display_name,
                identity_issuer=identity.issuer,
                identity_subject=identity.subject,
            )
    except IntegrityError:
        return User.objects.get(identity_issuer=identity.issuer, identity_subject=identity.subject)


def _deleted_since(identity: Identity, issued_at: int | None) -> bool:
    """Return whether the identity's user was deleted after this token was issued, or in the same second."""
    issued = datetime.fromtimestamp(issued_at or 0, UTC)
    digests = EndedIdentity.digests(identity.issuer, identity.subject)
    return EndedIdentity.objects.filter(digest__in=digests, ended_at__gte=issued).exists()
