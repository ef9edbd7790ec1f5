"""People whom the identity provider vouches for. A person is (issuer, subject); an e-mail address never links two people."""

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
from workspaces.sign_in.claims import Identity


def sign_in_person(*, identity: Identity, staff: bool, ip: str | None) -> User:
    """The person who signs in, made when they come for the first time; what the provider tells of them is brought up to date.

    `staff` is the provider's word for whether they are an operator, and takes that away again as well. Raises Forbidden
    for an account that is closed.
    """
    person = selectors.person_of(issuer=identity.issuer, subject=identity.subject) or _make(identity)
    if not person.is_active:
        raise Forbidden("This account is closed.", suggested_action="Ask the operator of the service.")
    person.email, person.email_verified = identity.email, identity.email_verified
    person.display_name = identity.display_name or person.display_name
    person.is_staff = person.is_superuser = staff
    with transaction.atomic():
        person.save(update_fields=["email", "email_verified", "display_name", "is_staff", "is_superuser", "updated_at"])
        _record_sign_in(person, ip)
    return person


def person_of_token(*, identity: Identity, issued_at: int | None, make_user: bool) -> User | None:
    """The person of a verified token of the provider; with `make_user`, their first token makes the user.

    `issued_at` in seconds since 1970. None for a closed account, for a token from before its person's user was deleted, and
    without `make_user` for whoever has no user.
    """
    person = selectors.person_of(issuer=identity.issuer, subject=identity.subject)
    if person is None:
        if not make_user or _ended_since(identity, issued_at):
            return None
        person = _make(identity)
    return person if person.is_active else None


def _record_sign_in(person: User, ip: str | None) -> None:
    """An operator's is recorded as one, and kept as long as anything that operators do."""
    caller = Caller(kind="user", actor_id=person.id, ip=ip)
    operation, metadata = "users.sign_in", {}
    if person.is_staff:
        caller = replace(operator_caller(ip), actor_id=person.id)
        operation, metadata = "operators.sign_in", {"by": "provider"}
    record(caller=caller, operation=operation, resource_type="user", resource_id=person.id, metadata=metadata)


def _make(identity: Identity) -> User:
    """Make the person; when another request did so at the same moment, take that one."""
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


def _ended_since(identity: Identity, issued_at: int | None) -> bool:
    """Whether the identity's user was deleted after (or in the same second as) this token was issued."""
    issued = datetime.fromtimestamp(issued_at or 0, UTC)
    digests = EndedIdentity.digests(identity.issuer, identity.subject)
    return EndedIdentity.objects.filter(digest__in=digests, ended_at__gte=issued).exists()
