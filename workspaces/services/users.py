"""Services that sign in, export and delete users.

Users of the identity provider are found by (issuer, subject), never by e-mail address.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from auditlog.services import record_entry
from config.api.caller import Caller, operator_caller, require_recent_sign_in
from config.api.errors import Forbidden, missing_or_foreign_id_error
from config.api.plan import ResourcePlan, accept_plan
from workspaces import selectors
from workspaces.models import EndedIdentity, Member, SignInLink, User, Workspace
from workspaces.services.workspaces import mark_workspace_deleted
from workspaces.sign_in.oidc_claims import OidcIdentity
from workspaces.sign_in.sessions import end_sessions_of_user


def upsert_and_audit_user_at_sign_in(*, identity: OidcIdentity, staff: bool, ip: str | None) -> User:
    """User service: create or update the user that the provider names; record the sign-in in the audit log.

    The caller begins the session. Name, e-mail and operator status are updated, but an empty name changes nothing. `staff`
    says whether the provider makes the user an operator; False removes that status. Raises Forbidden for a closed account.
    """
    person = selectors.user_of_identity(issuer=identity.issuer, subject=identity.subject) or _create(identity)
    if not person.is_active:
        raise Forbidden(
            gettext_noop("This account is closed."), suggested_action=gettext_noop("Ask the operator of the service.")
        )
    person.email, person.email_verified = identity.email, identity.email_verified
    person.display_name = identity.display_name or person.display_name
    person.is_staff = person.is_superuser = staff
    with transaction.atomic():
        person.save(update_fields=["email", "email_verified", "display_name", "is_staff", "is_superuser", "updated_at"])
        record_sign_in_in_audit_log(person, ip)
    return person


def find_or_create_token_user_or_none(*, identity: OidcIdentity, issued_at: int | None, make_user: bool) -> User | None:
    """User service: find the user whom a provider's access token names; with `make_user`, create an unknown one.

    `issued_at` is in Unix seconds. Returns None for a closed account, for a token issued before the user was deleted, and
    for an unknown user without `make_user`.
    """
    person = selectors.user_of_identity(issuer=identity.issuer, subject=identity.subject)
    if person is None:
        if not make_user or _deleted_since(identity, issued_at):
            return None
        person = _create(identity)
    return person if person.is_active else None


def load_user_data_and_audit_export(*, caller: Caller, user_id: str) -> tuple[User, list[Workspace]]:
    """Record a user's data export in the audit log; return the user and the active workspaces that the user owns.

    Raises NotFound, UserSessionRequired.
    """
    user = selectors.get_own_user(caller=caller, user_id=user_id)
    record_entry(caller=caller, operation="users.export", resource_type="user", resource_id=user.id)
    return user, list(selectors.active_workspaces_owned_by(user=user))


def erase_user_and_delete_workspaces(*, caller: Caller, user_id: str, dry_run: bool = False) -> tuple[User, list[Workspace]]:
    """Delete the calling user: erase name, e-mail and identity, and end sessions, tokens and memberships.

    Active workspaces that they own are deleted; paused ones stay as they are. Returns the user and the deleted workspaces.
    Raises UserSessionRequired for keys, NotFound for another's id, ReauthenticationRequired, PlanChanged.
    """
    found = selectors.get_own_user(caller=caller, user_id=user_id)
    require_recent_sign_in(caller)
    with transaction.atomic():
        user = User.objects.select_for_update().filter(pk=found.pk, is_active=True).first()
        if user is None:
            raise missing_or_foreign_id_error(None, "user")
        owned = list(selectors.active_workspaces_owned_by(user=user).select_for_update(no_key=True))
        joined = Member.objects.filter(user=user).exclude(role=Member.Role.OWNER)
        before = {
            "is_active": True,
            "owned_workspaces": sorted(workspace.id for workspace in owned),
            "joined_workspaces": sorted(joined.values_list("workspace_id", flat=True)),
        }
        after = {"is_active": False, "owned_workspaces": [], "joined_workspaces": []}
        accept_plan(ResourcePlan("users.delete", user.id, before, after))
        if not dry_run:
            _record_deleted_identity(user)
            SignInLink.objects.filter(email=user.email).delete()
        user.clear_personal_data_unsaved()
        if not dry_run:
            user.save()
            end_sessions_of_user(user)
            joined.delete()
            for workspace in owned:
                mark_workspace_deleted(caller=caller, workspace=workspace)
        record_entry(caller=caller, operation="users.delete", resource_type="user", resource_id=user.id, dry_run=dry_run)
    return user, owned


def record_sign_in_in_audit_log(person: User, ip: str | None, *, by: str = "") -> None:
    """User service: record in the audit log that a user signed in; an operator's sign-in is kept longest.

    `by` is the way in which the user signed in, where it is not the identity provider.
    """
    caller = Caller(kind="user", actor_id=person.id, ip=ip)
    operation, metadata = "users.sign_in", {"by": by} if by else {}
    if person.is_staff:
        caller = replace(operator_caller(ip), actor_id=person.id)
        operation, metadata = "operators.sign_in", {"by": "provider"}
    record_entry(caller=caller, operation=operation, resource_type="user", resource_id=person.id, metadata=metadata)


def _create(identity: OidcIdentity) -> User:
    """Create a user for an identity at the provider; if another request has just created the same user, return that user."""
    try:
        with transaction.atomic():
            return User.objects.create_user(
                email=identity.email,
                email_verified=identity.email_verified,
                display_name=identity.display_name,
                identity_issuer=identity.issuer,
                identity_subject=identity.subject,
            )
    except IntegrityError:
        return User.objects.get(identity_issuer=identity.issuer, identity_subject=identity.subject)


def _deleted_since(identity: OidcIdentity, issued_at: int | None) -> bool:
    """Return whether the user with this identity was deleted after the token was issued, or in the same second."""
    issued = datetime.fromtimestamp(issued_at or 0, UTC)
    digests = EndedIdentity.digests_of_identity(identity.issuer, identity.subject)
    return EndedIdentity.objects.filter(digest__in=digests, ended_at__gte=issued).exists()


def _record_deleted_identity(user: User) -> None:
    """Store a keyed hash of the deleted user's identity, so that older tokens of the identity provider are refused."""
    if user.identity_subject:
        digest = EndedIdentity.digests_of_identity(user.identity_issuer, user.identity_subject)[0]
        EndedIdentity.objects.update_or_create(digest=digest, defaults={"ended_at": timezone.now()})
