"""Who hears of what: each member chooses for themselves, in each workspace."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction

from auditlog.services import record
from config.api.caller import Caller, require_role
from config.notices.models import NoticeChoice, NoticeKind
from workspaces.models import Member, User
from workspaces.selectors import members_of
from workspaces.services.members import ADMIN_ROLES


def wanted_kinds(*, caller: Caller, workspace_id: str) -> set[NoticeKind]:
    """The kinds that the caller hears of. Raises UserSessionRequired, NotFound."""
    member = _own_membership(caller, workspace_id)
    return {kind for kind in NoticeKind if _wants(member, kind)}


def save_notice_choice(*, caller: Caller, workspace_id: str, wanted: Collection[str]) -> None:
    """Let the caller hear of these kinds and no others, in a paused workspace too. Raises UserSessionRequired, NotFound."""
    member = _own_membership(caller, workspace_id)
    chosen = {str(kind): kind in wanted for kind in NoticeKind}
    with transaction.atomic():
        NoticeChoice.objects.update_or_create(member=member, defaults={"chosen": chosen})
        record(
            caller=caller,
            operation="notices.choose",
            workspace_id=workspace_id,
            resource_type="user",
            resource_id=caller.actor_id,
            metadata={"wanted": [kind for kind, wants in chosen.items() if wants]},
        )


def recipients(*, workspace_id: str, kind: NoticeKind) -> list[User]:
    """The members who hear of a kind and can be reached."""
    members = members_of(workspace_id=workspace_id).select_related("notice_choice")
    return [member.user for member in members if _wants(member, kind) and can_receive_email(member.user)]


def can_receive_email(user: User) -> bool:
    """Whether notices go to the person's address: not to one that the provider has, but does not vouch for."""
    vouched_for = user.email_verified or not user.identity_subject  # who is known to this service alone, is known by it
    return bool(user.is_active and user.email and vouched_for)


def _wants(member: Member, kind: NoticeKind) -> bool:
    choice: NoticeChoice | None = getattr(member, "notice_choice", None)
    return bool((choice.chosen if choice else {}).get(kind, member.role in ADMIN_ROLES))


def _own_membership(caller: Caller, workspace_id: str) -> Member:
    require_role(caller, workspace_id, *Member.Role.values, write=False)
    return members_of(workspace_id=workspace_id).select_related("notice_choice").get(user_id=caller.actor_id)
