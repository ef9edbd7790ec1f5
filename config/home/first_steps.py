"""The checklist of a new workspace on its home page: time zone, account, first post and invitation."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import ConnectedAccount
from posts.models import PostGroup
from posts.states import GroupStatus
from workspaces.models import Invitation, Member
from workspaces.workspace_page import WorkspacePage

INVITATION_DAYS = 14  # how long the invitation alone keeps the checklist on the page


@dataclass(frozen=True)
class FirstStep:
    """A step in the checklist of a new workspace, and whether it is done."""

    title: str
    reason: str
    address: str
    done: bool


def first_steps(page: WorkspacePage) -> list[FirstStep]:
    """Return the checklist of a workspace's first steps; an empty list if it is done, or the member may change nothing."""
    workspace = page.workspace
    if not page.may_manage:
        return []
    real = ConnectedAccount.objects.filter(workspace=workspace, sandbox=False)
    has_account = real.exclude(status=ConnectedAccount.Status.DISCONNECTED).exists()
    has_post = PostGroup.objects.filter(workspace=workspace).exclude(status=GroupStatus.DRAFT).exists()
    members = Member.objects.filter(workspace=workspace)[:2].count()
    has_invited = members > 1 or Invitation.objects.filter(workspace=workspace).exists()
    has_zone = workspace.default_timezone != "UTC" or has_post  # who has posted has seen the times
    is_new = workspace.created_at > timezone.now() - timedelta(days=INVITATION_DAYS)
    if has_zone and has_account and has_post and (has_invited or not is_new):
        return []
    return [
        FirstStep(
            _("Choose your time zone"),
            _("Times are now in %(timezone)s.") % {"timezone": workspace.default_timezone},
            page.url_of_page("settings"),
            has_zone,
        ),
        FirstStep(
            _("Connect an account"),
            _("Until then, posts go to sandbox accounts only."),
            page.url_of_page("accounts"),
            has_account,
        ),
        FirstStep(
            _("Write a first post"), _("To a sandbox account it reaches nobody."), page.url_of_page("compose"), has_post
        ),
        FirstStep(
            _("Invite somebody"), _("Owners and admins approve what agents write."), page.url_of_page("members"), has_invited
        ),
    ]
