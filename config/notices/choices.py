"""Members' choices of e-mail notices: reads and saves them, and finds the members to whom a notice is sent."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction

from auditlog.services import record_entry
from config.api.caller import Caller, require_role
from config.notices.models import NoticeChoice, NoticeKind
from workspaces.models import Member, User
from workspaces.selectors import members_of_workspace
from workspaces.services.members import ADMIN_ROLES


def wanted_notice_kinds(*, caller: Caller, workspace_id: str) -> set[NoticeKind]:
    """Return the kinds of e-mail notices that the signed-in member gets. Raises UserSessionRequired, NotFound."""
    member = _own_membership(caller, workspace_id)
    return {kind for kind in NoticeKind if _wants(member, kind)}


def save_notice_choice(*, caller: Caller, workspace_id: str, wanted: Collection[str]) -> None:
    """Save which kinds of e-mail notices the signed-in member wants; even a paused workspace allows this.

    Raises UserSessionRequired, NotFound.
    """
    member = _own_membership(caller, workspace_id)
    chosen = {str(kind): kind in wanted for kind in NoticeKind}
    with transaction.atomic():
        NoticeChoice.objects.update_or_create(member=member, defaults={"chosen": chosen})
        record_entry(
            caller=caller,
            operation="notices.choose",
            workspace_id=workspace_id,
            resource_type="user",
            resource_id=caller.actor_id,
            metadata={"wanted": [kind for kind, wants in chosen.items() if wants]},
        )


def notice_recipients(*, workspace_id: str, kind: NoticeKind) -> list[User]:
    """Return the members of a workspace who want this kind of notice and can receive e-mail."""
    members = members_of_workspace(workspace_id=workspace_id).select_related("notice_choice")
    return [member.user for member in members if _wants(member, kind) and can_receive_email(member.user)]


def can_receive_email(user: User) -> bool:
    """Return whether a member can get e-mail notices: active, with an address verified by the identity provider if any."""
    verified = (
        user.email_verified or not user.identity_subject
    )  # users without an identity provider have their address from us
    return bool(user.is_active and user.email and verified)


def _wants(member: Member, kind: NoticeKind) -> bool:
    choice: NoticeChoice | None = getattr(member, "notice_choice", None)
    return bool((choice.chosen if choice else {}).get(kind, member.role in ADMIN_ROLES))


def _own_membership(caller: Caller, workspace_id: str) -> Member:
    require_role(caller, workspace_id, *Member.Role.values, write=False)
    return members_of_workspace(workspace_id=workspace_id).select_related("notice_choice").get(user_id=caller.actor_id)
