"""Create and delete users."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from auditlog.services import record
from config.api.caller import Caller, not_found_error, require_recent_sign_in
from workspaces import selectors
from workspaces.models import EndedIdentity, Member, User, Workspace
from workspaces.services.delete import mark_deleted
from workspaces.services.sessions import end_every_session


@dataclass(frozen=True)
class UserDeletion:
    """A deleted user and the workspaces that were deleted with them."""

    user: User
    deleted_workspaces: list[Workspace]


def create_user(*, email: str, display_name: str = "", **identity: Any) -> User:
    """Create a user. `identity`: identity_issuer, identity_subject and email_verified for a user of the provider."""
    return User.objects.create_user(email=email, display_name=display_name, **identity)


def record_deleted_identity(user: User) -> None:
    """Store a digest of the deleted user's identity, so that older provider tokens are refused. Needs a transaction."""
    if user.identity_subject:
        digest = EndedIdentity.digests(user.identity_issuer, user.identity_subject)[0]
        EndedIdentity.objects.update_or_create(digest=digest, defaults={"ended_at": timezone.now()})


def delete_user(*, caller: Caller, user_id: str, dry_run: bool = False) -> UserDeletion:
    """Delete the caller's user: erase name, e-mail and identity, and end sessions, tokens and memberships.

    Active workspaces that they own are deleted; paused ones stay as they are. Raises UserSessionRequired
    for keys, NotFound for another's id, ReauthenticationRequired.
    """
    found = selectors.signed_in_user(caller=caller, user_id=user_id)
    require_recent_sign_in(caller)
    with transaction.atomic():
        user = User.objects.select_for_update().filter(pk=found.pk, is_active=True).first()
        if user is None:
            raise not_found_error(None, "user")
        owned = list(selectors.active_workspaces_of(user=user).select_for_update(no_key=True))
        if not dry_run:
            record_deleted_identity(user)
        user.erase()
        if not dry_run:
            user.save()
            end_every_session(user)
            Member.objects.filter(user=user).exclude(role=Member.Role.OWNER).delete()
            for workspace in owned:
                mark_deleted(caller=caller, workspace=workspace)
        record(caller=caller, operation="users.delete", resource_type="user", resource_id=user.id, dry_run=dry_run)
    return UserDeletion(user, owned)
