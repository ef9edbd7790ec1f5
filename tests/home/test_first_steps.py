"""The checklist of a new workspace on its home page."""

from __future__ import annotations

import re

from django.test import Client

from accounts.models import ConnectedAccount
from posts.models import PostGroup
from tests.people import sign_in_here
from workspaces.models import Member, User, Workspace


def open_steps(workspace: Workspace, member: User) -> list[str]:
    """Return the titles of the steps that the home page asks for; an empty list without a checklist."""
    browser = Client()
    sign_in_here(browser, member)
    page = browser.get(f"/dashboard/workspaces/{workspace.id}").content.decode()
    return re.findall(r">([^<]+)</a>", page.partition('id="first-steps"')[2].partition("</ol>")[0])


def publish(workspace: Workspace) -> None:
    PostGroup.objects.create(
        workspace=workspace, text="Out", status="published", created_by_type="user", created_by_id="usr_x", trace_id="0" * 32
    )


def test_the_checklist_is_over_when_everything_is_done(
    workspace: Workspace, owner: User, stranger: User, account: ConnectedAccount
) -> None:
    ConnectedAccount.objects.update(sandbox=True)
    Member.objects.exclude(user=owner).delete()
    Workspace.objects.update(default_timezone="UTC")
    every = ["Choose your time zone", "Connect an account", "Write a first post", "Invite somebody"]
    assert open_steps(workspace, owner) == every

    Workspace.objects.update(default_timezone="Europe/Vienna")
    assert open_steps(workspace, owner) == every[1:]
    ConnectedAccount.objects.update(sandbox=False)
    assert open_steps(workspace, owner) == every[2:]
    publish(workspace)
    assert open_steps(workspace, owner) == every[3:]
    Member.objects.create(workspace=workspace, user=stranger, role="member")
    assert open_steps(workspace, owner) == []


def test_who_works_alone_is_not_asked_for_ever_to_invite_somebody(
    workspace: Workspace, owner: User, account: ConnectedAccount
) -> None:
    ConnectedAccount.objects.update(sandbox=False)
    Member.objects.exclude(user=owner).delete()
    publish(workspace)
    assert open_steps(workspace, owner) == ["Invite somebody"]

    Workspace.objects.update(created_at="2020-01-01T00:00:00Z")
    assert open_steps(workspace, owner) == []


def test_members_who_may_change_nothing_see_no_checklist(workspace: Workspace, teammate: User) -> None:
    Member.objects.filter(user=teammate).update(role="member")
    assert open_steps(workspace, teammate) == []
