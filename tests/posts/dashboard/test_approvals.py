"""The approvals page: posts are shown as they would be published, and approved, edited or rejected."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from posts.models import PostGroup
from tests.conftest import ApiClient
from tests.factories import AccountFactory, MediaAssetFactory
from tests.posts.calls import patch
from tests.posts.dashboard.dashboard import Dashboard, fields, the_group, words
from tests.posts.media_rows import media_of
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, body_for, kinds_of
from workspaces.models import Workspace


@pytest.fixture
def agent(agent_client: Any) -> ApiClient:
    """An agent whose posts need confirmation."""
    return agent_client(default_mode="requires_confirmation")


def create_waiting_post(agent: ApiClient, *accounts: ConnectedAccount, **fields: Any) -> dict[str, Any]:
    answer = agent.post("/posts", body_for(*accounts, **fields))
    assert answer.json()["post_group"]["status"] == "pending_confirmation", answer.content
    return dict(answer.json()["post_group"])


def test_the_whole_content_is_shown(
    dashboard: Dashboard,
    agent: ApiClient,
    accounts: list[ConnectedAccount],
    workspace: Workspace,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    real = AccountFactory(workspace=workspace, sandbox=False, platform="mastodon", handle="@us@social.example")
    picture = MediaAssetFactory(workspace=workspace, alt_text="A harbour")
    body = body_for(accounts[0], real, accounts[2], media=media_of(picture), scheduled_at=TOMORROW)
    body["targets"][1]["options"] = {"visibility": "unlisted", "thread": [{"text": "and more"}]}
    body["targets"][2]["text"] = "Shorter"
    agent.post("/posts", body)

    with django_assert_max_num_queries(14):
        page = dashboard.get("approvals")

    shown = words(page)
    for expected in (
        "Robot asks to publish to 3 accounts",
        "For Thursday, 11 March 2027, 12:00",
        "costs $0.01",
        "Hello",
        "Shorter",
        "and more",
        "Visibility Everybody, but not in public timelines",
        "@us@social.example",
        "A harbour",
        "Approve for 11 Mar, 12:00",
    ):
        assert expected in shown
    assert picture.id in page.content.decode()


def test_more_posts_need_no_more_queries(
    dashboard: Dashboard,
    agent: ApiClient,
    accounts: list[ConnectedAccount],
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    groups = [create_waiting_post(agent, *accounts, text=f"Number {number}") for number in range(11)]

    with django_assert_max_num_queries(14):
        page = dashboard.get("approvals")

    assert [group["id"] in page.content.decode() for group in groups] == [True] * 10 + [False]
    cursor = page.content.decode().partition('href="?cursor=')[2].partition('"')[0]
    assert groups[10]["id"] in dashboard.get("approvals", cursor=cursor).content.decode()


@pytest.mark.parametrize(("when", "status"), [({}, "published"), ({"scheduled_at": TOMORROW}, "scheduled")])
def test_a_post_is_approved(
    dashboard: Dashboard, agent: ApiClient, account: ConnectedAccount, clock: Any, when: dict[str, str], status: str
) -> None:
    group = create_waiting_post(agent, account, **when)
    [version] = fields(dashboard.get("approvals"), "content_version")

    answer = dashboard.post("post-confirm", group, content_version=version)

    assert answer.status_code == 303
    assert the_group().status == "scheduled"
    assert "post.confirmed" in kinds_of(group)
    assert AuditEntry.objects.filter(operation="posts.confirm", actor_type="user").count() == 1
    clock.shift(20)
    assert run_until_idle() == (0 if when else 1)
    assert the_group().status == status


@pytest.mark.parametrize("version", ["1", "9" * 5000, "one"])
def test_an_outdated_version_cannot_be_approved(
    dashboard: Dashboard, agent: ApiClient, account: ConnectedAccount, version: str
) -> None:
    group = create_waiting_post(agent, account)
    patch(agent, group, text="Something else")

    answer = dashboard.http.post(dashboard.address("post-confirm", group), {"content_version": version}, follow=True)

    assert the_group().status == "pending_confirmation"
    assert 'role="alert"' in answer.content.decode()
    entry = AuditEntry.objects.get(operation="posts.confirm")
    assert (entry.outcome, entry.code) == ("refused", "CONFLICT")


@pytest.mark.parametrize("reason", ["Not in this tone, please.", ""])
def test_a_post_is_rejected_with_a_reason(
    dashboard: Dashboard, agent: ApiClient, account: ConnectedAccount, reason: str
) -> None:
    group = create_waiting_post(agent, account)

    dashboard.post("post-reject", group, reason=reason)

    read = agent.get(f"/posts/{group['id']}").json()["post_group"]
    assert (read["status"], read["rejection_reason"]) == ("rejected", reason or None)
    assert "Nothing is awaiting approval." in words(dashboard.get("approvals"))


def test_a_post_is_approved_only_as_planned(dashboard: Dashboard, agent: ApiClient, account: ConnectedAccount) -> None:
    group = create_waiting_post(agent, account)
    page = dashboard.get("approvals")
    [version], (plan_hash, _of_rejection) = fields(page, "content_version"), fields(page, "plan_hash")
    assert plan_hash == group["plan_hash"]

    dashboard.post("post-confirm", group, content_version=version, plan_hash="sha256:" + "0" * 64)
    assert the_group().status == "pending_confirmation"

    dashboard.post("post-confirm", group, content_version=version, plan_hash=plan_hash)
    assert the_group().status == "scheduled"


def test_a_post_that_changed_since_it_was_read_is_not_rejected(
    dashboard: Dashboard, agent: ApiClient, account: ConnectedAccount
) -> None:
    group = create_waiting_post(agent, account)
    _, read = fields(dashboard.get("approvals"), "plan_hash")
    patch(agent, group, text="Something else")

    page = dashboard.http.post(dashboard.address("post-reject", group), {"plan_hash": read}, follow=True)

    assert the_group().status == "pending_confirmation"
    assert "Somebody has changed the post since you read it. Read it again, then reject it." in words(page)
    entry = AuditEntry.objects.get(operation="posts.reject")
    assert (entry.outcome, entry.code) == ("refused", "CONFLICT")

    _, current = fields(dashboard.get("approvals"), "plan_hash")
    dashboard.post("post-reject", group, plan_hash=current)
    assert the_group().status == "rejected"


def test_the_links_of_a_notice_offer_decisions_only_on_the_plan_they_name(
    dashboard: Dashboard, agent: ApiClient, account: ConnectedAccount
) -> None:
    group = create_waiting_post(agent, account)
    named = {"plan_hash": group["plan_hash"]}
    approving, rejecting = (dashboard.get("post", group, **named, decision=each) for each in ("approve", "reject"))
    assert patch(agent, group, text="Something else").status_code == 200
    outdated = dashboard.get("post", group, **named, decision="approve")

    assert fields(approving, "plan_hash") == fields(rejecting, "plan_hash") == [group["plan_hash"]] * 2
    assert "<details open><summary" in rejecting.content.decode()
    assert "<details open><summary" not in approving.content.decode()
    assert fields(outdated, "plan_hash") == []
    assert "The post has changed since the notice was sent." in words(outdated)
    assert fields(dashboard.get("post", group), "plan_hash") == [the_group().plan_hash] * 2


def test_a_post_is_edited_and_approved_in_one_request(
    dashboard: Dashboard, agent: ApiClient, account: ConnectedAccount
) -> None:
    group = create_waiting_post(agent, account, scheduled_at=TOMORROW)
    page = dashboard.get("post-edit", group)
    assert "Approve for Thu 11 Mar 12:00" in words(page)

    form: dict[str, Any] = {"content_version": "1", "when": fields(page, "when")[0], "text": "In our tone"}
    dashboard.compose("schedule", account, group=group, **form)

    assert (the_group().status, the_group().text) == ("scheduled", "In our tone")
    assert the_group().created_by_type == "agent"


def test_an_edited_post_still_awaits_approval(dashboard: Dashboard, agent: ApiClient, account: ConnectedAccount) -> None:
    group = create_waiting_post(agent, account)

    dashboard.compose("save", account, group=group, content_version="1", text="In our tone")

    assert (the_group().status, the_group().content_version) == ("pending_confirmation", 2)


def test_a_long_post_is_approved_on_its_own_page(dashboard: Dashboard, agent: ApiClient, workspace: Workspace) -> None:
    facebook = AccountFactory(workspace=workspace, platform="facebook")
    group = create_waiting_post(agent, facebook, text="word " * 12_000 + "the end")

    page = dashboard.get("approvals")
    assert len(page.content) < 21_000
    assert dashboard.address("post-confirm", group) not in page.content.decode()
    assert "Read the whole post" in words(page)

    whole = dashboard.get("post", group)
    assert "the end" in words(whole)
    assert dashboard.address("post-confirm", group) in whole.content.decode()


def test_a_publishing_time_in_the_past_is_marked(
    dashboard: Dashboard, agent: ApiClient, account: ConnectedAccount, clock: Any
) -> None:
    create_waiting_post(agent, account, scheduled_at="2027-03-10T12:30:00Z")
    clock.shift(3600)

    shown = words(dashboard.get("approvals"))
    assert "has passed" in shown
    assert "Approve and publish now" in shown
    assert PostGroup.objects.get().status == "pending_confirmation"
