"""The dashboard's members page (members, roles, invitations, owner), and the page that an invitation link opens."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from auditlog.services import record_refusal
from config.api.errors import ApiError
from workspaces import selectors, services
from workspaces.models import Member, Workspace
from workspaces.services import CreatedInvitation
from workspaces.services.members import ASSIGNABLE_ROLES
from workspaces.workspace_page import WorkspacePage, api_error_page, caller_of_request, workspace_page


@workspace_page()
def list_members_and_invitations(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: show the workspace's members and, to owners and admins, its invitations."""
    return _members(page)


@workspace_page("POST", operation="members.invite")
def invite_member(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: invite an e-mail address to the workspace. Only this response shows the invitation link."""
    form = page.request.POST
    invited = services.invite_member(
        caller=page.caller, workspace_id=page.workspace.id, email=form.get("email", ""), role=form.get("role", "")
    )
    return _members(page, invited)


@workspace_page("POST", operation="members.withdraw_invitation")
def withdraw_invitation(page: WorkspacePage, invitation_id: int) -> HttpResponse:
    """Dashboard page: withdraw an invitation to the workspace."""
    services.withdraw_invitation(caller=page.caller, workspace_id=page.workspace.id, invitation_id=invitation_id)
    return page.success_redirect(_("The invitation is withdrawn. Its link no longer works."), "members")


@workspace_page("POST", operation="members.change_role")
def change_role(page: WorkspacePage, user_id: str) -> HttpResponse:
    """Dashboard page: change a member's role in the workspace."""
    role = page.request.POST.get("role", "")
    services.change_role(caller=page.caller, workspace_id=page.workspace.id, user_id=user_id, role=role)
    return page.success_redirect(_("The role is changed."), "members")


@workspace_page("POST", operation="members.remove")
def remove_member(page: WorkspacePage, user_id: str) -> HttpResponse:
    """Dashboard page: remove a member from the workspace."""
    services.remove_member(caller=page.caller, workspace_id=page.workspace.id, user_id=user_id)
    return page.success_redirect(_("The member is removed. Everything they created here stays."), "members")


@workspace_page("POST", operation="members.leave")
def leave_workspace(page: WorkspacePage) -> HttpResponse:
    """Dashboard page of members: leave the workspace, which ends the signed-in user's own membership."""
    services.leave_workspace(caller=page.caller, workspace_id=page.workspace.id)
    messages.success(page.request, _("You have left %(workspace)s.") % {"workspace": page.workspace.name})
    return page.redirect(reverse("dashboard"))


@workspace_page("POST", operation="workspaces.hand_over")
def hand_over_workspace(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: make another member the owner of the workspace."""
    new_owner_id = page.request.POST.get("user_id", "")
    services.hand_over_workspace(caller=page.caller, workspace_id=page.workspace.id, user_id=new_owner_id)
    return page.success_redirect(_("The workspace has a new owner. You are now an admin."), "members")


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def show_or_accept_invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Dashboard page: show an invitation to a workspace and accept it on POST; only the invited person may see it."""
    caller = caller_of_request(request)
    try:
        if request.method == "POST":
            workspace = services.accept_invitation(caller=caller, token=token)
            messages.success(request, _("You are now a member of %(workspace)s.") % {"workspace": workspace.name})
            return redirect("home", workspace_id=workspace.id)
        shown = services.get_own_invitation_by_token(caller=caller, token=token)
    except ApiError as error:
        if request.method == "POST":
            record_refusal(caller=caller, operation="members.accept_invitation", error=error, dry_run=False)
        return api_error_page(request, error)
    role = next(each for each in roles_to_give(shown.workspace) if each.value == shown.role)
    return render(request, "workspaces/invitation.html", {"invitation": shown, "role": role})


@dataclass(frozen=True)
class RoleToGive:
    """A role that may be given to members on the members page, with one line that says what it allows."""

    value: str
    label: str
    explanation: str


def roles_to_give(workspace: Workspace) -> list[RoleToGive]:
    """Return the roles that an owner or admin may give on the members page, from the most powerful to the least."""
    editor = _("writes, schedules and publishes posts; does not change accounts, agents, keys or settings")
    if workspace.editors_need_approval:
        editor = _(
            "writes and schedules posts, which an owner or admin approves; does not change accounts, agents, keys or settings"
        )
    explanations = {
        Member.Role.ADMIN: _("does everything except hand the workspace over or delete it"),
        Member.Role.EDITOR: editor,
        Member.Role.MEMBER: _("sees everything, changes nothing"),
    }
    return [RoleToGive(role, str(role.label), explanations[role]) for role in ASSIGNABLE_ROLES]


def _members(page: WorkspacePage, invited: CreatedInvitation | None = None) -> HttpResponse:
    rows = list(selectors.members_of_workspace(workspace_id=page.workspace.id))
    invitations = selectors.open_and_expired_invitations(workspace_id=page.workspace.id) if page.may_manage else ()
    return page.render(
        "workspaces/members.html",
        members=rows,
        others=[row for row in rows if row.role != Member.Role.OWNER],
        invitations=invitations,
        invited=invited,
        now=timezone.now(),
        roles=roles_to_give(page.workspace),
        me=page.caller.actor_id,
        is_owner=page.caller.role == Member.Role.OWNER,
    )
