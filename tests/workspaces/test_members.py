"""The members page: roles, removal, leaving, new owner."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from agents.models import ApiKey
from auditlog.models import AuditEntry
from config.api.caller import Caller
from config.api.errors import UserSessionRequired
from tests import factories
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.people import as_user, sign_in_here
from tests.workspaces.browsers import send_form
from workspaces import services
from workspaces.models import Member, User, Workspace


@pytest.fixture
def admin(workspace: Workspace) -> User:
    user: User = factories.UserFactory(display_name="Admin")
    Member.objects.create(workspace=workspace, user=user, role="admin")
    return user


def browser_of(user: User) -> Client:
    browser = Client(enforce_csrf_checks=True)
    sign_in_here(browser, user)
    return browser


def page_of(workspace: Workspace, rest: str = "") -> str:
    return f"/dashboard/workspaces/{workspace.id}/members{rest}"


def send(user: User, workspace: Workspace, rest: str, **fields: str) -> Any:
    """Submit a form of the members page and return the following page."""
    browser = browser_of(user)
    answer = send_form(browser, page_of(workspace), page_of(workspace, rest), **fields)
    return browser.get(answer["Location"]) if answer.status_code == 303 else answer


def roles(workspace: Workspace) -> dict[str, str]:
    return dict(Member.objects.filter(workspace=workspace).values_list("user_id", "role"))


def entries() -> list[tuple[str, str, str, str | None, dict[str, Any]]]:
    fields = ("operation", "actor_id", "resource_id", "code", "metadata")
    return list(AuditEntry.objects.order_by("pk").values_list(*fields))


def test_all_members_see_the_list_and_only_admins_see_forms(
    workspace: Workspace, owner: User, admin: User, teammate: User, stranger: User
) -> None:
    shown = {user.pk: browser_of(user).get(page_of(workspace)) for user in (owner, admin, teammate, stranger)}

    assert [answer.status_code for answer in shown.values()] == [200, 200, 200, 404]
    for user in (owner, admin, teammate):
        text = shown[user.pk].content.decode()
        assert all(str(member.email) in text for member in (owner, admin, teammate))
        assert ("/members/invite" in text) is (user != teammate)
        assert ("/members/hand-over" in text) is (user == owner)
        assert ("/members/leave" in text) is (user != owner)
    assert browser_of(owner).get("/dashboard/workspaces/wrk_x/members").status_code == 404
    assert Client().get(page_of(workspace))["Location"].startswith("/dashboard/sign-in?next=")


def test_the_number_of_queries_does_not_depend_on_the_number_of_members(
    workspace: Workspace, owner: User, django_assert_max_num_queries: Any
) -> None:
    for number in range(10):
        Member.objects.create(workspace=workspace, user=factories.UserFactory(), role="member")
        services.invite_member(
            caller=Caller("user", owner.id), workspace_id=workspace.id, email=f"p{number}@example.com", role="member"
        )
    browser = browser_of(owner)
    with django_assert_max_num_queries(12):
        browser.get(page_of(workspace))


@pytest.mark.parametrize("who", ["owner", "admin"])
def test_a_changed_role_applies_at_once(workspace: Workspace, owner: User, admin: User, teammate: User, who: str) -> None:
    actor = {"owner": owner, "admin": admin}[who]
    key = {"workspace_id": workspace.id, "name": "k", "scopes": ["posts.read"]}
    assert as_user(teammate).post("/auth/api-keys", key).status_code == 403

    shown = send(actor, workspace, f"/{teammate.id}/role", role="admin")
    assert "The role is changed." in shown.content.decode()
    assert roles(workspace)[teammate.id] == "admin"
    assert as_user(teammate).post("/auth/api-keys", key).status_code == 201
    assert entries()[1] == ("members.change_role", actor.id, teammate.id, None, {"role": "admin"})


@pytest.mark.parametrize("role", ["editor", "member"])
def test_a_lowered_role_applies_at_once_to_tokens_and_sessions_from_before(
    workspace: Workspace, owner: User, admin: User, teammate: User, role: str
) -> None:
    token, browser = as_user(admin), browser_of(admin)
    key = {"workspace_id": workspace.id, "name": "k", "scopes": ["posts.read"]}
    assert token.post("/auth/api-keys", key).status_code == 201
    send(owner, workspace, f"/{admin.id}/role", role=role)
    refused = [
        token.post("/auth/api-keys", key),
        token.delete(f"/auth/api-keys/{ApiKey.objects.get().pk}"),
    ]

    assert [answer.status_code for answer in refused] == [403, 403]
    assert ApiKey.objects.get().revoked_at is None
    send_form(browser, page_of(workspace), page_of(workspace, f"/{teammate.id}/role"), role="admin")
    assert roles(workspace)[teammate.id] == "member"


@pytest.mark.parametrize("role", ["owner", "", "king"])
def test_only_assignable_roles_can_be_given(workspace: Workspace, owner: User, teammate: User, role: str) -> None:
    shown = send(owner, workspace, f"/{teammate.id}/role", role=role)

    assert "Choose one of" in shown.content.decode()
    assert roles(workspace)[teammate.id] == "member"


def test_a_removed_member_loses_access_at_once(workspace: Workspace, owner: User, teammate: User) -> None:
    send(owner, workspace, f"/{teammate.id}/remove")

    assert roles(workspace) == {owner.id: "owner"}
    assert browser_of(teammate).get(page_of(workspace)).status_code == 404
    assert as_user(teammate).get(f"/accounts?workspace_id={workspace.id}").status_code == 404
    assert entries() == [("members.remove", owner.id, teammate.id, None, {})]


@pytest.mark.parametrize("status", ["active", "paused"])
def test_a_member_may_leave_even_a_paused_workspace(workspace: Workspace, teammate: User, status: str) -> None:
    Workspace.objects.update(status=status)
    shown = send(teammate, workspace, "/leave")

    assert f"You have left {workspace.name}." in shown.content.decode()
    assert teammate.id not in roles(workspace)
    assert entries() == [("members.leave", teammate.id, teammate.id, None, {})]


def test_the_owner_hands_the_workspace_over_and_stays_as_an_admin(workspace: Workspace, owner: User, teammate: User) -> None:
    send(owner, workspace, "/hand-over", user_id=teammate.id)

    assert roles(workspace) == {owner.id: "admin", teammate.id: "owner"}
    workspace.refresh_from_db()
    assert workspace.owner_user_id == teammate.id
    assert [row["id"] for row in as_user(teammate).get(f"/workspaces?owner_user_id={teammate.id}").json()["workspaces"]]
    assert as_user(owner).get(f"/workspaces?owner_user_id={owner.id}").json()["workspaces"] == []
    assert as_user(owner).delete(f"/workspaces/{workspace.id}").status_code == 403
    assert as_user(teammate).delete(f"/workspaces/{workspace.id}").status_code == 200
    assert entries()[0] == ("workspaces.hand_over", owner.id, teammate.id, None, {})


FORMS = {"role": {"role": "admin"}, "remove": {}}


@pytest.mark.parametrize("form", [*FORMS, "hand-over", "leave"])
def test_the_owner_cannot_be_changed_or_removed(workspace: Workspace, owner: User, admin: User, form: str) -> None:
    if form in FORMS:
        shown = send(admin, workspace, f"/{owner.id}/{form}", **FORMS[form])
    else:
        shown = send(owner, workspace, f"/{form}", **({"user_id": owner.id} if form == "hand-over" else {}))

    assert "This is the owner of the workspace." in shown.content.decode()
    assert roles(workspace) == {owner.id: "owner", admin.id: "admin"}
    assert [entry[3] for entry in entries()] == ["INVALID_STATE"]


@pytest.mark.parametrize("form", [*FORMS, "hand-over", "invite"])
@pytest.mark.parametrize("who", ["teammate", "stranger"])
def test_members_and_strangers_cannot_change_members(
    workspace: Workspace, owner: User, admin: User, teammate: User, stranger: User, form: str, who: str
) -> None:
    actor = {"teammate": teammate, "stranger": stranger}[who]
    browser = browser_of(actor)
    rest = f"/{admin.id}/{form}" if form in FORMS else f"/{form}"
    before = roles(workspace)
    fields = {"role": "admin", "user_id": admin.id, "email": "x@example.com"}
    answer = send_form(browser, "/dashboard/?all=1", page_of(workspace, rest), **fields)

    assert answer.status_code == (303 if who == "teammate" else 404)
    assert roles(workspace) == before
    assert workspace.invitations.count() == 0
    assert [entry[3] for entry in entries()] == ["FORBIDDEN" if who == "teammate" else "NOT_FOUND"]


def test_an_admin_cannot_hand_the_workspace_over(workspace: Workspace, owner: User, admin: User, teammate: User) -> None:
    browser = browser_of(admin)
    send_form(browser, page_of(workspace), page_of(workspace, "/hand-over"), user_id=admin.id)

    assert roles(workspace)[owner.id] == "owner"
    assert [entry[3] for entry in entries()] == ["FORBIDDEN"]


@pytest.mark.parametrize("form", [*FORMS, "hand-over"])
@pytest.mark.parametrize("whom", ["stranger", "nobody"])
def test_a_user_who_is_not_a_member_is_not_found(
    workspace: Workspace, owner: User, stranger: User, form: str, whom: str
) -> None:
    user_id = {"stranger": stranger.id, "nobody": "usr_nobody"}[whom]
    rest = f"/{user_id}/{form}" if form in FORMS else f"/{form}"
    send(owner, workspace, rest, role="admin", user_id=user_id)

    assert roles(workspace) == {owner.id: "owner"}
    assert [entry[3] for entry in entries()] == ["NOT_FOUND"]


@pytest.mark.parametrize("form", [*FORMS, "hand-over", "invite"])
def test_members_of_a_paused_workspace_cannot_be_changed(
    workspace: Workspace, owner: User, teammate: User, form: str
) -> None:
    Workspace.objects.update(status="paused")
    rest = f"/{teammate.id}/{form}" if form in FORMS else f"/{form}"
    before = roles(workspace)
    send(owner, workspace, rest, role="admin", user_id=teammate.id, email="x@example.com")

    assert roles(workspace) == before
    assert [entry[3] for entry in entries()] == ["WORKSPACE_PAUSED"]


@pytest.mark.parametrize(
    "rest", ["/invite", "/leave", "/hand-over", "/usr_x/role", "/usr_x/remove", "/invitations/1/withdraw"]
)
def test_every_form_needs_a_csrf_token_and_post(workspace: Workspace, owner: User, rest: str) -> None:
    browser = browser_of(owner)

    assert browser.post(page_of(workspace, rest)).status_code == 403
    assert browser.get(page_of(workspace, rest)).status_code == 405


def test_an_api_key_cannot_change_members(workspace: Workspace, teammate: User, api: ApiClient) -> None:
    key = Caller("api_key", "key_x", workspace.id, frozenset({"api_keys.write"}))
    with pytest.raises(UserSessionRequired):
        services.remove_member(caller=key, workspace_id=workspace.id, user_id=teammate.id)


def test_a_workspace_has_at_most_one_owner(workspace: Workspace, teammate: User) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Member.objects.filter(user=teammate).update(role="owner")


@pytest.mark.django_db(transaction=True)
def test_concurrent_handovers_leave_one_owner(workspace: Workspace, owner: User, admin: User, teammate: User) -> None:
    heirs = [admin.id, teammate.id]

    def hand_over(number: int) -> str:
        try:
            services.hand_over_workspace(caller=Caller("user", owner.id), workspace_id=workspace.id, user_id=heirs[number])
        except Exception as error:
            return type(error).__name__
        return heirs[number]

    outcomes = in_threads(2, hand_over)
    workspace.refresh_from_db()
    [new_owner] = [user_id for user_id, role in roles(workspace).items() if role == "owner"]
    assert sorted(outcomes) == sorted([new_owner, "Forbidden"])
    assert workspace.owner_user_id == new_owner
