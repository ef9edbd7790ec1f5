"""Inviting people by e-mail: whoever signs in with that address, verified by the provider, may accept once."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from auditlog.services import record
from config.api import rate_limit
from config.api.caller import Caller, WorkspaceStatus, absent, require_recent_sign_in, require_role
from config.api.errors import Conflict, Forbidden, InvalidState, RateLimited, ValidationFailed, WorkspacePaused
from workspaces import selectors
from workspaces.models import Invitation, Member, User, Workspace
from workspaces.services.mail import queue_mail
from workspaces.services.members import ADMINS, lock_workspace, require_given_role
from workspaces.sign_in.claims import plain_address

LIFETIME = timedelta(days=7)
MOST_OPEN = 50
A_MINUTE = 10  # invitations by one person


@dataclass(frozen=True)
class Invited:
    """An invitation, and its link, which is shown this once."""

    invitation: Invitation
    link: str


def invite_member(*, caller: Caller, workspace_id: str, email: str, role: str) -> Invited:
    """Invite an address as an admin or a member, and have the link sent to it. Owners and admins may.

    An open invitation of the same address is replaced: its link is dead. Raises UserSessionRequired, NotFound, Forbidden,
    WorkspacePaused, ReauthenticationRequired, ValidationFailed, Conflict (too many are open), RateLimited.
    """
    require_role(caller, workspace_id, *ADMINS)
    require_recent_sign_in(caller)  # an invitation as an admin is a way to that role
    require_given_role(role)
    address = plain_address(email)
    if not address:
        raise ValidationFailed.of("email", "This is not an e-mail address.")
    verdict = rate_limit.take(rate_limit.Bucket(f"invitations:{caller.actor_id}", A_MINUTE))
    if not verdict.allowed:
        raise RateLimited(headers=verdict.headers())
    token = secrets.token_urlsafe(32)
    link = f"{settings.BASE_URL}{reverse('invitation', args=[token])}"
    with transaction.atomic():
        workspace = lock_workspace(workspace_id)
        _require_room(workspace, address)
        inviter = User.objects.get(pk=caller.actor_id)
        invitation = Invitation.objects.create(
            workspace=workspace,
            email=address,
            role=role,
            token_sha256=_digest(token),
            invited_by=inviter,
            mail=queue_mail(to=address, subject=_subject(workspace), text=_text(workspace, inviter, role, link)),
            expires_at=timezone.now() + LIFETIME,
        )
        _record(caller, "members.invite", invitation)
    return Invited(invitation, link)


def withdraw_invitation(*, caller: Caller, workspace_id: str, invitation_id: int) -> None:
    """Take an invitation back. Owners and admins may. Raises UserSessionRequired, NotFound, Forbidden, WorkspacePaused."""
    require_role(caller, workspace_id, *ADMINS)
    with transaction.atomic():
        lock_workspace(workspace_id)
        invitation = selectors.invitations_of(workspace_id=workspace_id).filter(pk=invitation_id).first()
        if invitation is None:
            raise absent(None, "invitation")
        _record(caller, "members.withdraw_invitation", invitation)
        invitation.delete()


def look_at_invitation(*, caller: Caller, token: str) -> Invitation:
    """The open invitation of a link, for the person who may accept it. Raises InvalidState, Forbidden as the acceptance."""
    invitation = selectors.open_invitation(token_sha256=_digest(token))
    if invitation is None:
        raise InvalidState(
            "This invitation is not valid: it was used, withdrawn or replaced, or its seven days have passed.",
            suggested_action="Ask whoever invited you for a new one.",
        )
    _require_invited(caller, invitation)
    return invitation


def accept_invitation(*, caller: Caller, token: str) -> Workspace:
    """Become a member by a link. The person's own address, as their provider has verified it, must be the invited one.

    Raises InvalidState (not valid any more), Forbidden (another address, or one that is not verified), WorkspacePaused.
    """
    with transaction.atomic():
        workspace = lock_workspace(look_at_invitation(caller=caller, token=token).workspace_id)
        invitation = look_at_invitation(caller=caller, token=token)  # as it stands now that nobody else can change it
        if workspace.status == WorkspaceStatus.PAUSED:
            raise WorkspacePaused()
        # Who is a member already keeps their role.
        Member.objects.get_or_create(workspace=workspace, user_id=caller.actor_id, defaults={"role": invitation.role})
        _record(caller, "members.accept_invitation", invitation)
        invitation.delete()
    return workspace


def _require_invited(caller: Caller, invitation: Invitation) -> None:
    """Raise Forbidden unless the invitation is for this person's verified address."""
    person = User.objects.get(pk=caller.actor_id)
    if not person.email_verified:
        raise Forbidden(
            "An invitation needs an e-mail address that your identity provider has verified, and it vouches for none.",
            suggested_action="Verify your address at your identity provider, sign in again, then open the link again.",
        )
    if plain_address(person.email) != invitation.email:
        raise Forbidden(
            f"This invitation is for another e-mail address than yours, {person.email}.",
            suggested_action="Sign in as the person whom it was sent to, or ask for an invitation of your own address.",
        )


def _require_room(workspace: Workspace, address: str) -> None:
    """Remove what the new invitation replaces; raise ValidationFailed for a member, Conflict when too many are open."""
    members = Member.objects.filter(workspace=workspace, user__email_verified=True)
    if members.filter(user__email=address).exists():
        raise ValidationFailed.of("email", "Somebody with this address is a member already.", "taken")
    selectors.invitations_of(workspace_id=workspace.id).filter(email=address).delete()
    if selectors.invitations_of(workspace_id=workspace.id).filter(expires_at__gt=timezone.now()).count() >= MOST_OPEN:
        raise Conflict(f"{MOST_OPEN} invitations are open.", suggested_action="Withdraw some of them first.")


def _subject(workspace: Workspace) -> str:
    return f"Invitation to {workspace.name}"


def _text(workspace: Workspace, inviter: User, role: str, link: str) -> str:
    who = f"{inviter.display_name} ({inviter.email})" if inviter.display_name else inviter.email or "Somebody"
    return (
        f"{who} invites you to the workspace {workspace.name}, as {'an admin' if role == 'admin' else 'a member'}.\n\n"
        f"To accept, open this link and sign in with this e-mail address:\n{link}\n\n"
        f"The link is good for {LIFETIME.days} days. If you know nothing of this, do nothing.\n"
    )


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _record(caller: Caller, operation: str, invitation: Invitation) -> None:
    """Which invitation and which role, never the address."""
    record(
        caller=caller,
        operation=operation,
        workspace_id=invitation.workspace_id,
        resource_type="invitation",
        resource_id=str(invitation.pk),
        metadata={"role": invitation.role},
    )
