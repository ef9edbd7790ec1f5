"""Limits on the number of active keys and agents of a workspace."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import Agent, ApiKey, ClaimToken
from agents.services import issue_key
from config.db.ids import new_id
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.people import as_user, sign_in_here
from workspaces.models import Member, User, Workspace


def make_key(client: ApiClient, workspace: Workspace, **fields: Any) -> Any:
    return client.post("/auth/api-keys", {"workspace_id": workspace.id, "name": "A key", "scopes": ["posts.read"], **fields})


def make_agent(client: ApiClient, workspace: Workspace, **fields: Any) -> Any:
    body = {"workspace_id": workspace.id, "owner_user_id": workspace.owner_user_id, "name": "Herald"}
    return client.post("/agents", {**body, "scopes": ["posts.read"], "default_mode": "draft", **fields})


def add_keys(workspace: Workspace, number: int, **fields: Any) -> None:
    ApiKey.objects.bulk_create(
        ApiKey(workspace=workspace, name="A key", prefix="sps_key_", token_sha256=new_id("key"), **fields)
        for _ in range(number)
    )


def add_agents(workspace: Workspace, number: int, **fields: Any) -> None:
    made = factories.AgentFactory.build_batch(number, workspace=workspace, owner_user=workspace.owner_user, **fields)
    Agent.objects.bulk_create(made)


def test_a_workspace_has_at_most_a_hundred_live_keys(
    api: ApiClient, workspace: Workspace, owner: User, teammate: User, stranger: User
) -> None:
    Member.objects.filter(user=teammate).update(role="admin")
    add_keys(workspace, 98)  # `api` has one
    assert make_key(api, workspace).status_code == 201
    count_before = ApiKey.objects.count()

    for client in (api, as_user(owner), as_user(teammate)):
        for dry_run in (True, False):
            assert_envelope(make_key(client, workspace, dry_run=dry_run), 409, "CONFLICT")
    assert ApiKey.objects.count() == count_before
    assert make_key(as_user(stranger), stranger.owned_workspaces.get()).status_code == 201
    assert api.delete(f"/auth/api-keys/{ApiKey.objects.filter(workspace=workspace).latest('pk').id}").status_code == 200
    assert make_key(as_user(owner), workspace).status_code == 201


def test_agent_keys_and_ended_keys_do_not_count(api: ApiClient, workspace: Workspace) -> None:
    now = timezone.now()
    add_keys(workspace, 30, revoked_at=now)
    add_keys(workspace, 31, expires_at=now)
    add_keys(workspace, 32, retiring_since=now, expires_at=now + timedelta(hours=1))
    agent = factories.AgentFactory.create(workspace=workspace)
    for _ in range(10):
        issue_key(workspace_id=workspace.id, name="Robot", scopes=(), agent=agent)

    assert make_key(api, workspace).status_code == 201


def test_a_workspace_has_at_most_a_hundred_live_agents(
    api: ApiClient, workspace: Workspace, owner: User, teammate: User, stranger: User
) -> None:
    Member.objects.filter(user=teammate).update(role="admin")
    add_agents(workspace, 20, status="revoked")
    add_agents(workspace, 99)
    made = make_agent(api, workspace)
    assert made.status_code == 201
    count_before = Agent.objects.count()

    for client in (api, as_user(owner), as_user(teammate)):
        for dry_run in (True, False):
            assert_envelope(make_agent(client, workspace, dry_run=dry_run), 409, "CONFLICT")
    assert (Agent.objects.count(), ClaimToken.objects.count()) == (count_before, 1)
    assert make_agent(as_user(stranger), stranger.owned_workspaces.get()).status_code == 201
    api.delete(f"/agents/{made.json()['agent']['id']}")
    assert make_agent(api, workspace).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_concurrent_requests_do_not_exceed_a_hundred(api: ApiClient, workspace: Workspace) -> None:
    add_keys(workspace, 97)
    add_agents(workspace, 98)

    keys = in_threads(8, lambda _: make_key(api, workspace))
    agents = in_threads(8, lambda _: make_agent(api, workspace))

    for answers in (keys, agents):
        assert sorted(answer.status_code for answer in answers) == [201] * 2 + [409] * 6
    assert (ApiKey.objects.count(), Agent.objects.count()) == (100, 100)


def test_the_dashboard_shows_the_limit_error(workspace: Workspace, owner: User) -> None:
    add_keys(workspace, 100)
    add_agents(workspace, 100)
    browser = Client()
    sign_in_here(browser, owner)
    pages = f"/dashboard/workspaces/{workspace.id}"

    key = {"key": "k1", "name": "A key", "scopes": ["posts.read"]}
    agent = {**key, "name": "Herald", "default_mode": "draft", "accounts_from": "all"}
    for page, form, message in (
        (f"{pages}/api-keys/new", key, "The workspace already has 100 keys."),
        (f"{pages}/agents/new", agent, "The workspace already has 100 agents."),
    ):
        answer = browser.post(page, form)
        assert (answer.status_code, message in answer.content.decode()) == (409, True)
    assert (ApiKey.objects.count(), Agent.objects.count()) == (100, 100)
