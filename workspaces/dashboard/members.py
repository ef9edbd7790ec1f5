"""A workspace's members and invitations."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone

from workspaces import selectors, services
from workspaces.frame import WorkspacePage, workspace_page
from workspaces.models import Member
from workspaces.services import Invited


@workspace_page()
def members(page: WorkspacePage) -> HttpResponse:
    """Who belongs to the workspace and, for those who may change it, who is invited."""
    return _members(page)


@workspace_page("POST", operation="members.invite")
def invite(page: WorkspacePage) -> HttpResponse:
    """Invite `email` as `role`; the answer shows the link, which no page shows again."""
    form = page.request.POST
    invited = services.invite_member(
        caller=page.caller,
        workspace_id=page.workspace.id,
        email=form.get("email", ""),
        role=form.get("role", ""),
    )
    return _members(page, invited)


@workspace_page("POST", operation="members.withdraw_invitation")
def withdraw(page: WorkspacePage, invitation_id: int) -> HttpResponse:
    """Take an invitation back."""
    services.withdraw_invitation(caller=page.caller, workspace_id=page.workspace.id, invitation_id=invitation_id)
    return page.done("The invitation is withdrawn; its link is dead.", "members")


@workspace_page("POST", operation="members.change_role")
def change_role(page: WorkspacePage, user_id: str) -> HttpResponse:
    """Give a member the `role`."""
    role = page.request.POST.get("role", "")
    services.change_role(caller=page.caller, workspace_id=page.workspace.id, user_id=user_id, role=role)
    return page.done("The role is changed.", "members")


@workspace_page("POST", operation="members.remove")
def remove(page: WorkspacePage, user_id: str) -> HttpResponse:
    """End somebody's membership."""
    services.remove_member(caller=page.caller, workspace_id=page.workspace.id, user_id=user_id)
    return page.done("They are no member any more. What they made here stays.", "members")


@workspace_page("POST", operation="members.leave")
def leave(page: WorkspacePage) -> HttpResponse:
    """End one's own membership."""
    services.leave_workspace(caller=page.caller, workspace_id=page.workspace.id)
    messages.success(page.request, f"You have left {page.workspace.name}.")
    return page.go(reverse("dashboard"))


@workspace_page("POST", operation="workspaces.hand_over")
def hand_over(page: WorkspacePage) -> HttpResponse:
    """Make the member `user_id` the owner."""
    heir = page.request.POST.get("user_id", "")
    services.hand_over_workspace(caller=page.caller, workspace_id=page.workspace.id, user_id=heir)
    return page.done("The workspace is handed over; you are an admin of it now.", "members")


def _members(page: WorkspacePage, invited: Invited | None = None) -> HttpResponse:
    rows = list(selectors.members_of(workspace_id=page.workspace.id))
    invitations = selectors.invitations_of(workspace_id=page.workspace.id) if page.may_write else ()
    return page.render(
        "workspaces/members.html",
        members=rows,
        others=[row for row in rows if row.role != Member.Role.OWNER],
        invitations=invitations,
        invited=invited,
        now=timezone.now(),
        me=page.caller.actor_id,
        is_owner=page.caller.role == Member.Role.OWNER,
    )
