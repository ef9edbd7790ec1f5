"""Services that invite people to a workspace by e-mail. Only the user with the invited, verified address may accept."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from auditlog.services import record_entry
from config.api import rate_limit
from config.api.caller import Caller, WorkspaceStatus, require_recent_sign_in, require_role
from config.api.errors import (
    Conflict,
    Forbidden,
    InvalidState,
    ValidationFailed,
    WorkspacePaused,
    missing_or_foreign_id_error,
)
from config.pages.language import format_date
from workspaces import selectors
from workspaces.models import Invitation, Member, User, Workspace
from workspaces.services.mail import queue_mail
from workspaces.services.mail_message import MailMessage, short_printable_name
from workspaces.services.members import ADMIN_ROLES, validate_assignable_role
from workspaces.services.workspaces import lock_workspace
from workspaces.sign_in.oidc_claims import normalized_email_or_empty

INVITATION_LIFETIME = timedelta(days=7)
ROLE_SENTENCES = {
    Member.Role.ADMIN: _("%(who)s invites you to the workspace %(workspace)s, as an admin."),
    Member.Role.EDITOR: _("%(who)s invites you to the workspace %(workspace)s, as an editor."),
    Member.Role.MEMBER: _("%(who)s invites you to the workspace %(workspace)s, as a viewer."),
}
MAX_OPEN_INVITATIONS = 50
MAX_INVITATIONS_PER_MINUTE = 10  # invitations by one user


@dataclass(frozen=True)
class CreatedInvitation:
    """The result of inviting somebody: the new invitation and its link, which is shown only once."""

    invitation: Invitation
    link: str


def invite_member(*, caller: Caller, workspace_id: str, email: str, role: str) -> CreatedInvitation:
    """Create an invitation to the workspace for an e-mail address, and queue the e-mail with the invitation link.

    An open invitation for the same address is replaced, and its link stops working. Raises UserSessionRequired, NotFound,
    Forbidden, WorkspacePaused, ReauthenticationRequired, ValidationFailed, Conflict (too many are open), RateLimited.
    """
    require_role(caller, workspace_id, *ADMIN_ROLES)
    require_recent_sign_in(caller)  # because an invitation can grant the admin role
    validate_assignable_role(role)
    address = normalized_email_or_empty(email)
    if not address:
        raise ValidationFailed.for_field("email", gettext_noop("This is not a valid e-mail address."))
    rate_limit.count_or_raise_rate_limited(rate_limit.Bucket(f"invitations:{caller.actor_id}", MAX_INVITATIONS_PER_MINUTE))
    token = secrets.token_urlsafe(32)
    link = f"{settings.BASE_URL}{reverse('invitation', args=[token])}"
    with transaction.atomic():
        workspace = lock_workspace(workspace_id)
        _replace_open_invitation(workspace, address)
        inviter, expires_at = User.objects.get(pk=caller.actor_id), timezone.now() + INVITATION_LIFETIME
        message = _invitation_message(workspace, inviter, role, link, expires_at)
        invitation = Invitation.objects.create(
            workspace=workspace,
            email=address,
            role=role,
            token_sha256=_digest(token),
            invited_by=inviter,
            mail=queue_mail(to=address, message=message),
            expires_at=expires_at,
        )
        _record(caller, "members.invite", invitation)
    return CreatedInvitation(invitation, link)


def withdraw_invitation(*, caller: Caller, workspace_id: str, invitation_id: int) -> None:
    """Delete an invitation to the workspace. Only owners and admins may do this.

    Raises UserSessionRequired, NotFound, Forbidden, WorkspacePaused.
    """
    require_role(caller, workspace_id, *ADMIN_ROLES)
    with transaction.atomic():
        lock_workspace(workspace_id)
        invitation = selectors.open_and_expired_invitations(workspace_id=workspace_id).filter(pk=invitation_id).first()
        if invitation is None:
            raise missing_or_foreign_id_error(None, "invitation")
        _record(caller, "members.withdraw_invitation", invitation)
        invitation.delete()


def get_own_invitation_by_token(*, caller: Caller, token: str) -> Invitation:
    """Let the invited person open an invitation: return the open invitation whose link contains this token.

    Raises InvalidState (no longer open), Forbidden (not the invited user).
    """
    invitation = selectors.find_open_invitation_by_token_hash(token_sha256=_digest(token))
    if invitation is None:
        raise InvalidState(
            gettext_noop("This invitation is not valid: it was used, withdrawn or replaced, or its seven days have passed."),
            suggested_action=gettext_noop("Ask for a new invitation."),
        )
    _require_invited_person(caller, invitation)
    return invitation


def accept_invitation(*, caller: Caller, token: str) -> Workspace:
    """Accept an invitation, which makes the caller a member. It must be for the caller's verified e-mail address.

    Raises InvalidState (no longer valid), Forbidden (another address, or an unverified one), WorkspacePaused.
    """
    with transaction.atomic():
        workspace = lock_workspace(get_own_invitation_by_token(caller=caller, token=token).workspace_id)
        invitation = get_own_invitation_by_token(caller=caller, token=token)  # read the invitation again under the lock
        if workspace.status == WorkspaceStatus.PAUSED:
            raise WorkspacePaused()
        # The role of an existing member does not change.
        Member.objects.get_or_create(workspace=workspace, user_id=caller.actor_id, defaults={"role": invitation.role})
        _record(caller, "members.accept_invitation", invitation)
        invitation.delete()
    return workspace


def _require_invited_person(caller: Caller, invitation: Invitation) -> None:
    """Raise Forbidden unless the invitation is for the caller's verified e-mail address."""
    person = User.objects.get(pk=caller.actor_id)
    if not person.email_verified:
        raise Forbidden(
            gettext_noop(
                "An invitation needs an e-mail address that your identity provider has verified. "
                "Your address is not verified."
            ),
            suggested_action=gettext_noop(
                "Verify your address at your identity provider, or sign in by e-mail. Then open the link again."
            ),
        )
    if normalized_email_or_empty(person.email) != invitation.email:
        raise Forbidden(
            f"This invitation is for another e-mail address than yours, {person.email}.",
            suggested_action=gettext_noop("Sign in as the invited person, or ask for an invitation to your own address."),
        )


def _replace_open_invitation(workspace: Workspace, address: str) -> None:
    """Delete the earlier invitation of an e-mail address that is invited again. Raises Conflict if too many are open.

    Raises ValidationFailed if the address is already a member's.
    """
    members = Member.objects.filter(workspace=workspace, user__email_verified=True)
    if members.filter(user__email=address).exists():
        raise ValidationFailed.for_field("email", gettext_noop("Somebody with this address is already a member."), "taken")
    selectors.open_and_expired_invitations(workspace_id=workspace.id).filter(email=address).delete()
    if (
        selectors.open_and_expired_invitations(workspace_id=workspace.id).filter(expires_at__gt=timezone.now()).count()
        >= MAX_OPEN_INVITATIONS
    ):
        raise Conflict(
            f"The workspace already has {MAX_OPEN_INVITATIONS} open invitations.",
            suggested_action=gettext_noop("Withdraw some of them first."),
        )


def _invitation_message(workspace: Workspace, inviter: User, role: str, link: str, expires_at: datetime) -> MailMessage:
    """Return the e-mail with the link of an invitation, which says who invites whom to what, and until when."""
    name, inviter_name = short_printable_name(workspace.name), short_printable_name(inviter.display_name)
    who = f"{inviter_name} ({inviter.email})" if inviter_name else inviter.email or gettext("Somebody")
    until = timezone.localtime(expires_at, ZoneInfo(workspace.default_timezone))
    return MailMessage(
        subject=gettext("Invitation to %(workspace)s") % {"workspace": workspace.name},
        workspace_name=name,
        happened=ROLE_SENTENCES[Member.Role(role)] % {"who": who, "workspace": name},
        todo=gettext("To accept, open this link and sign in with this e-mail address."),
        button=gettext("Open the invitation"),
        address=link,
        until=gettext("The link is valid for %(days)s days, until %(time)s (%(timezone)s).")
        % {
            "days": INVITATION_LIFETIME.days,
            "time": format_date(until, "j M Y, H:i"),
            "timezone": workspace.default_timezone,
        },
        reason=gettext("You get this because somebody entered your e-mail address. If you did not expect it, ignore it."),
    )


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _record(caller: Caller, operation: str, invitation: Invitation) -> None:
    """Write the audit entry of an invitation, with the invitation's id and role but without the invited e-mail address."""
    record_entry(
        caller=caller,
        operation=operation,
        workspace_id=invitation.workspace_id,
        resource_type="invitation",
        resource_id=str(invitation.pk),
        metadata={"role": invitation.role},
    )
