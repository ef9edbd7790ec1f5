"""The page on which members choose their e-mail notices."""

from __future__ import annotations

import re
from typing import Any

from django.test import Client
from pytest_django import DjangoAssertNumQueries

from auditlog.models import AuditEntry
from config.notices.models import NoticeKind
from tests.conftest import ApiClient
from tests.notices.rounds import ended, member, real_account, scheduled, send_emails
from tests.people import sign_in_here
from workspaces.models import User, Workspace


def signed_in(user: User) -> Client:
    browser = Client(enforce_csrf_checks=True)
    sign_in_here(browser, user)
    return browser


def address(workspace: Workspace) -> str:
    return f"/dashboard/workspaces/{workspace.id}/settings/notices"


def shown(browser: Client, workspace: Workspace) -> str:
    answer = browser.get(address(workspace))
    assert answer.status_code == 200
    return answer.content.decode()


def ticked(browser: Client, workspace: Workspace) -> set[str]:
    return {found[1] for found in re.finditer(r'<input type="checkbox" name="(\w+)"[^>]*checked', shown(browser, workspace))}


def choose(browser: Client, workspace: Workspace, *kinds: str) -> Any:
    token = str(browser.get(address(workspace)).context["csrf_token"])
    return browser.post(address(workspace), {"csrfmiddlewaretoken": token, **dict.fromkeys(kinds, "on")})


def test_by_default_owners_and_admins_get_all_notices_and_members_none(workspace: Workspace, teammate: User) -> None:
    admin = member(workspace, "admin")

    for person, kinds in ((workspace.owner_user, set(NoticeKind)), (admin, set(NoticeKind)), (teammate, set())):
        assert ticked(signed_in(person), workspace) == kinds


def test_only_chosen_kinds_are_sent(workspace: Workspace, teammate: User, api: ApiClient) -> None:
    owners, teammates = signed_in(workspace.owner_user), signed_in(teammate)
    answer = choose(owners, workspace, "approval", "budget")
    assert (answer.status_code, answer["location"]) == (303, address(workspace))
    assert "The change applies from the next e-mail on." in shown(owners, workspace)
    choose(teammates, workspace, "post")
    ended(scheduled(api, real_account(workspace)), "failed")

    assert [message.to for message in send_emails()] == [[teammate.email]]
    assert ticked(owners, workspace) == {"approval", "budget"}
    [first, _] = AuditEntry.objects.filter(operation="notices.choose").order_by("pk")
    assert (first.actor_id, first.metadata) == (workspace.owner_user_id, {"wanted": ["approval", "budget"]})


def test_only_members_with_a_csrf_token_can_choose(workspace: Workspace, stranger: User) -> None:
    assert signed_in(stranger).get(address(workspace)).status_code == 404
    assert signed_in(workspace.owner_user).post(address(workspace), {"post": "on"}).status_code == 403
    assert Client().get(address(workspace))["location"].startswith("/dashboard/sign-in")
    assert ticked(signed_in(workspace.owner_user), workspace) == set(NoticeKind)


def test_notices_can_be_chosen_in_a_paused_workspace(workspace: Workspace) -> None:
    Workspace.objects.update(status="paused")
    browser = signed_in(workspace.owner_user)
    choose(browser, workspace)

    assert ticked(browser, workspace) == set()


def test_the_page_shows_the_address_or_why_no_notices_are_sent(workspace: Workspace) -> None:
    browser, owner = signed_in(workspace.owner_user), User.objects.filter(pk=workspace.owner_user_id)
    assert f"Notices go to {workspace.owner_user.email}" in shown(browser, workspace)
    owner.update(identity_subject="1", email_verified=False)
    assert f"has not verified your address {workspace.owner_user.email}" in shown(browser, workspace)
    owner.update(email="")
    assert "passed on no e-mail address" in shown(browser, workspace)


def test_the_page_needs_few_queries(workspace: Workspace, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    browser = signed_in(workspace.owner_user)
    with django_assert_max_num_queries(12):
        shown(browser, workspace)
