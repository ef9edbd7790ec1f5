"""Permissions on the posts pages and their actions."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from posts.models import PostGroup
from tests.conftest import ApiClient
from tests.posts.dashboard.dashboard import Dashboard, the_group, words
from tests.posts.rows import body_for, create
from workspaces.models import Member, User, Workspace

PAGES = ["calendar", "posts", "approvals", "compose"]
PAGES_OF_A_POST = ["post", "post-edit"]
FORMS: list[tuple[str, dict[str, Any]]] = [
    ("compose", {"action": "publish", "key": "k", "text": "Hello"}),
    ("post-edit", {"action": "save", "key": "k", "text": "Better", "content_version": "1"}),
    ("post-cancel", {}),
    ("post-retry", {}),
    ("post-fix", {"key": "k"}),
    ("post-resolve", {"target_id": "tgt_00000000000000000000000000"}),
    ("post-reschedule", {"when": "2027-03-12T09:00"}),
    ("post-duplicate", {"key": "k"}),
    ("post-confirm", {"content_version": "1"}),
    ("post-reject", {}),
]


@pytest.fixture
def waiting(clock: Any, agent_client: Any, account: ConnectedAccount) -> dict[str, Any]:
    """A group awaiting confirmation."""
    answer = agent_client(default_mode="requires_confirmation").post("/posts", body_for(account))
    return dict(answer.json()["post_group"])


def at(name: str, group: dict[str, Any]) -> dict[str, Any] | None:
    return group if name.startswith("post-") or name == "post" else None


def test_pages_are_for_members(waiting: dict[str, Any], workspace: Workspace, stranger: User, teammate: User) -> None:
    member, foreign, nobody = (Dashboard(workspace, user) for user in (teammate, stranger, None))

    for name in PAGES + PAGES_OF_A_POST:
        assert member.get(name, at(name, waiting)).status_code == 200, name
        assert foreign.get(name, at(name, waiting)).status_code == 404, name
        turned_away = nobody.get(name, at(name, waiting))
        assert (turned_away.status_code, turned_away["location"].partition("?")[0]) == (302, "/dashboard/sign-in")


@pytest.mark.parametrize("who", ["teammate", "stranger", "nobody"])
def test_forms_are_for_owners_and_admins(
    request: pytest.FixtureRequest, waiting: dict[str, Any], account: ConnectedAccount, workspace: Workspace, who: str
) -> None:
    dashboard = Dashboard(workspace, None if who == "nobody" else request.getfixturevalue(who))
    before = PostGroup.objects.values().get()

    for name, form in FORMS:
        answer = dashboard.post(name, at(name, waiting), account=[account.id], **form)
        assert answer.status_code == {"stranger": 404, "nobody": 302}.get(who, answer.status_code), name
        assert PostGroup.objects.values().get() == before, name


def test_a_member_reads_and_sees_no_forms(waiting: dict[str, Any], workspace: Workspace, teammate: User) -> None:
    dashboard = Dashboard(workspace, teammate)

    for name in PAGES + PAGES_OF_A_POST:
        page = dashboard.get(name, at(name, waiting)).content.decode()
        assert 'method="post"' not in page.partition("<main")[2], name
    assert "Only owners and admins can approve posts." in words(dashboard.get("approvals"))


def test_an_admin_may_do_as_the_owner(
    waiting: dict[str, Any], account: ConnectedAccount, workspace: Workspace, teammate: User
) -> None:
    Member.objects.filter(user=teammate).update(role="admin")

    Dashboard(workspace, teammate).post("post-confirm", waiting, content_version="1")

    assert the_group().status == "scheduled"


def test_forms_need_their_token(
    waiting: dict[str, Any], account: ConnectedAccount, workspace: Workspace, owner: User
) -> None:
    dashboard = Dashboard(workspace, owner, csrf=True)
    token = str(dashboard.get("compose").context["csrf_token"])
    before = PostGroup.objects.values().get()

    for name, form in FORMS:
        forged = dashboard.post(name, at(name, waiting), account=[account.id], csrfmiddlewaretoken="f" * 64, **form)
        assert (forged.status_code, PostGroup.objects.values().get()) == (403, before), name
    for name, form in FORMS:
        sent = dashboard.post(name, at(name, waiting), account=[account.id], csrfmiddlewaretoken=token, **form)
        assert sent.status_code in (303, 422), name


def test_a_post_is_found_under_its_own_workspace_only(dashboard: Dashboard, owner: User) -> None:
    """Even for a member of both workspaces."""
    other = Workspace.objects.create(name="Other", slug="other", owner_user=owner)
    Member.objects.create(workspace=other, user=owner, role="owner")
    elsewhere = PostGroup.objects.create(workspace=other, status="draft", created_by_type="user", trace_id="0" * 32)
    before = PostGroup.objects.values().get()

    for name in PAGES_OF_A_POST:
        assert dashboard.get(name, elsewhere).status_code == 404, name
    for name, form in FORMS[1:]:
        assert dashboard.post(name, elsewhere, **form)["location"] == dashboard.address("home"), name
    assert PostGroup.objects.values().get() == before


def test_a_paused_workspace_is_read_but_not_changed(dashboard: Dashboard, api: ApiClient, account: ConnectedAccount) -> None:
    create(api, account, draft=True)
    Workspace.objects.update(status="paused")

    page = dashboard.compose("save", account)

    assert (page.status_code, PostGroup.objects.count()) == (422, 1)
    assert "is paused" in words(page)
