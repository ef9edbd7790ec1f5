"""The agents page: list, key rotation, revocation."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from pytest_django import DjangoAssertNumQueries

from agents.models import Agent, ApiKey, ClaimToken
from agents.services import create_agent
from auditlog.models import AuditEntry
from config.api.caller import Caller
from tests import factories
from tests.conftest import ApiClient
from tests.pages import Pages, form_of, has_form, words
from workspaces.models import Member, User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """The frozen clock, set to noon."""
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def pages(clock: Any, workspace: Workspace, owner: User) -> Pages:
    return Pages(workspace, owner)


@pytest.fixture
def agent(workspace: Workspace) -> Agent:
    """An agent with its key."""
    made = factories.AgentFactory(workspace=workspace)
    factories.agent_key(made)
    return made


def unclaimed(workspace: Workspace, owner: User, name: str) -> str:
    """The claim token of a newly registered agent."""
    made = create_agent(
        caller=Caller(kind="user", actor_id=owner.id),
        workspace_id=workspace.id,
        owner_user_id=owner.id,
        name=name,
        scopes=["posts.read"],
        default_mode="draft",
    )
    return str(made.claim_token)


def test_an_empty_list_offers_to_create_an_agent(pages: Pages) -> None:
    page = pages.get("agents")
    assert "No agent works here yet" in words(page)
    assert f'href="{pages.address("agent-new")}"' in page.content.decode()


def test_each_agent_shows_its_status(clock: time_machine.Traveller, pages: Pages, workspace: Workspace, owner: User) -> None:
    unclaimed(workspace, owner, "Too late")
    clock.shift(timedelta(hours=25))
    unclaimed(workspace, owner, "Newborn")
    worker = factories.AgentFactory(
        workspace=workspace,
        name="Worker",
        default_mode="requires_confirmation",
        monthly_spend_cap_cents=1250,
        posts_per_day_cap=1,
        account_allowlist=["acc_x", "acc_y"],
    )
    ApiClient(factories.agent_key(worker)).get(f"/agents/{worker.id}")
    factories.AgentFactory(workspace=workspace, name="Gone", status="revoked")

    shown = words(pages.get("agents"))

    assert "Revoked Gone" in shown
    assert "Active Worker Asks first · $12.50 a month · 1 post a day · 2 accounts last seen 11 Mar, 13:00" in shown
    assert "Unclaimed Newborn Writes drafts never seen" in shown
    assert "Claim token expired Too late" in shown


def test_a_rotated_key_is_shown_once_and_the_old_key_still_works(pages: Pages, agent: Agent) -> None:
    address = pages.address("agent-rotate-key", agent_id=agent.id)
    form = form_of(pages.get("agent", agent_id=agent.id), address)

    page = pages.post("agent-rotate-key", form, agent_id=agent.id)

    retiring, key = ApiKey.objects.filter(agent=agent).order_by("pk")
    token = page.content.decode().partition('<code id="token">')[2].partition("<")[0]
    assert page.status_code == 200
    assert ApiClient(token).get(f"/agents/{agent.id}").status_code == 200
    assert f"{retiring.prefix}…" in words(page)
    assert (retiring.status, key.status) == ("retiring", "active")
    assert AuditEntry.objects.get(operation="agents.rotate_key").actor_type == "user"

    again = pages.post("agent-rotate-key", form, follow=True, agent_id=agent.id)
    assert "This key was already issued" in words(again)
    assert token not in again.content.decode()
    assert ApiKey.objects.filter(agent=agent).count() == 2


def test_a_revoked_agents_keys_do_not_work(pages: Pages, agent: Agent) -> None:
    token = factories.agent_key(agent)

    page = pages.post("agent-revoke", follow=True, agent_id=agent.id)

    agent.refresh_from_db()
    assert "Robot is revoked" in words(page)
    assert agent.status == "revoked"
    assert ApiClient(token).get(f"/agents/{agent.id}").json()["code"] == "API_KEY_REVOKED"
    shown = pages.get("agent", agent_id=agent.id)
    assert "Revoked" in words(shown)
    assert not any(has_form(shown, pages.address(name, agent_id=agent.id)) for name in ("agent-rotate-key", "agent-revoke"))


@pytest.mark.parametrize("name", ["agent-rotate-key", "agent-revoke", "agent-stop"])
def test_members_strangers_and_forms_without_csrf_token_change_nothing(
    workspace: Workspace, owner: User, teammate: User, stranger: User, agent: Agent, name: str
) -> None:
    form = {"key": "k", "cancel": "on"}
    page = Pages(workspace, teammate).post(name, form, follow=True, agent_id=agent.id)
    assert "it needs an owner or admin" in words(page)
    assert Pages(workspace, stranger).post(name, form, agent_id=agent.id).status_code == 404
    theirs = Pages(stranger.owned_workspaces.get(), stranger)
    assert "There is no such agent" in words(theirs.post(name, form, follow=True, agent_id=agent.id))
    assert Pages(workspace, owner, csrf=True).post(name, form, agent_id=agent.id).status_code == 403
    assert Pages(workspace, None).post(name, form, agent_id=agent.id)["location"].startswith("/dashboard/sign-in")

    agent.refresh_from_db()
    assert (agent.status, agent.default_mode) == ("active", "allow_publish")
    assert [key.status for key in ApiKey.objects.filter(agent=agent)] == ["active"]
    refused = AuditEntry.objects.filter(outcome="refused", workspace_id=workspace.id)
    assert [entry.actor_id for entry in refused] == [teammate.id]


def test_an_agent_of_the_owners_other_workspace_is_not_found(pages: Pages, owner: User) -> None:
    other = factories.WorkspaceFactory(owner_user=owner)
    theirs = factories.AgentFactory(workspace=other)

    assert pages.get("agent", agent_id=theirs.id).status_code == 404
    pages.post("agent-revoke", agent_id=theirs.id)

    theirs.refresh_from_db()
    assert theirs.status == "active"


def test_the_list_needs_few_queries(
    pages: Pages, workspace: Workspace, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for agent in factories.AgentFactory.create_batch(5, workspace=workspace):
        factories.agent_key(agent)
    with django_assert_max_num_queries(9):
        pages.get("agents")


def test_members_can_read_and_see_no_actions(workspace: Workspace, teammate: User, agent: Agent) -> None:
    pages = Pages(workspace, teammate)
    assert pages.address("agent-new") not in pages.get("agents").content.decode()
    page = pages.get("agent", agent_id=agent.id)
    assert "What it may do" in words(page)
    assert agent.api_keys.get().prefix not in page.content.decode()
    assert not has_form(page)
    assert pages.get("agent-new").status_code == 403


def test_admins_may_do_everything_that_owners_may(workspace: Workspace, teammate: User, agent: Agent) -> None:
    Member.objects.filter(user=teammate).update(role="admin")
    assert Pages(workspace, teammate).post("agent-revoke", agent_id=agent.id).status_code == 303
    agent.refresh_from_db()
    assert agent.status == "revoked"
    assert not ClaimToken.objects.filter(agent=agent, burned_at=None).exists()
