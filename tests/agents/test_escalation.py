"""Tests of PATCH /agents/{id}: giving an agent more rights needs every scope of the agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agents.models import Agent
from auditlog.models import AuditEntry
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.people import as_user
from workspaces.models import Member, User, Workspace

ONE, OTHER = "acc_01h455vb4pex5vsknk084sn02q", "acc_01h455vb4pex5vsknk084sn02r"
BEFORE: dict[str, Any] = {
    "default_mode": "requires_confirmation",
    "account_allowlist": [ONE],
    "rate_limit_per_minute": 30,
    "posts_per_day_cap": 5,
    "monthly_spend_cap_cents": 100,
    "monthly_social_url_post_cap": 0,
}
LOOSER: list[dict[str, Any]] = [
    {"default_mode": "allow_publish"},
    {"account_allowlist": None},
    {"account_allowlist": [ONE, OTHER]},
    {"account_allowlist": [OTHER]},
    {"rate_limit_per_minute": 31},
    {"rate_limit_per_minute": None},
    {"posts_per_day_cap": 6},
    {"posts_per_day_cap": None},
    {"monthly_spend_cap_cents": 101},
    {"monthly_spend_cap_cents": None},
    {"monthly_social_url_post_cap": 1},
    {"monthly_social_url_post_cap": None},
    {"name": "Crier", "posts_per_day_cap": 1, "default_mode": "allow_publish"},
    {"scopes": ["posts.draft"], "default_mode": "allow_publish"},
]
NOT_LOOSER: list[dict[str, Any]] = [
    {**BEFORE, "name": "Crier"},
    {"default_mode": "dry_run"},
    {"account_allowlist": []},
    {"rate_limit_per_minute": 29},
    {"posts_per_day_cap": 4, "monthly_spend_cap_cents": 0},
    {"scopes": ["posts.draft"]},
]


@pytest.fixture
def agent(workspace: Workspace) -> Agent:
    made: Agent = factories.AgentFactory(workspace=workspace, scopes=["posts.draft", "posts.publish"], **BEFORE)
    return made


@pytest.fixture
def narrow(key_with: Callable[..., ApiClient]) -> ApiClient:
    """A key that lacks one of the agent's scopes."""
    return key_with("api_keys.write", "posts.draft", "posts.schedule")


def update(client: ApiClient, agent: Agent, **changes: Any) -> Any:
    return client.request("PATCH", f"/agents/{agent.id}", changes)


def rows() -> list[Any]:
    return list(Agent.objects.values())


@pytest.mark.parametrize("changes", LOOSER, ids=str)
def test_giving_an_agent_more_rights_needs_all_its_scopes(
    narrow: ApiClient, key_with: Callable[..., ApiClient], agent: Agent, changes: dict[str, Any]
) -> None:
    before = rows()
    for dry_run in (True, False):
        body = assert_envelope(update(narrow, agent, **changes, dry_run=dry_run), 403, "SCOPE_MISSING")
        assert "posts.publish" in body["message"]
    assert rows() == before
    assert {entry.outcome for entry in AuditEntry.objects.all()} == {"refused"}

    assert update(key_with("api_keys.write", "posts.draft", "posts.publish"), agent, **changes).status_code == 200


@pytest.mark.parametrize("changes", NOT_LOOSER, ids=str)
def test_reducing_or_repeating_settings_needs_no_further_scope(
    narrow: ApiClient, agent: Agent, changes: dict[str, Any]
) -> None:
    assert update(narrow, agent, **changes).status_code == 200


def test_changing_an_unlimited_setting_is_no_escalation(narrow: ApiClient, workspace: Workspace, settings: Any) -> None:
    settings.RATE_LIMIT_PER_MINUTE = 60
    agent = factories.AgentFactory.create(workspace=workspace, scopes=["posts.publish"])
    caps = ("posts_per_day_cap", "monthly_spend_cap_cents", "monthly_social_url_post_cap")

    for changes in ({"account_allowlist": [ONE]}, dict.fromkeys(caps, 10**6), {"rate_limit_per_minute": 60}):
        assert update(narrow, agent, **changes).status_code == 200
    assert_envelope(update(narrow, agent, rate_limit_per_minute=61), 403, "SCOPE_MISSING")


def test_a_stored_rate_above_the_maximum_cannot_be_raised(narrow: ApiClient, agent: Agent) -> None:
    Agent.objects.update(rate_limit_per_minute=2**31 - 1)

    assert update(narrow, agent, rate_limit_per_minute=600).status_code == 200


def test_owner_and_admin_may_give_more_rights_and_others_may_not(
    agent: Agent, owner: User, teammate: User, stranger: User
) -> None:
    before = rows()
    assert_envelope(update(as_user(teammate), agent, default_mode="allow_publish"), 403, "FORBIDDEN")
    assert_envelope(update(as_user(stranger), agent, default_mode="allow_publish"), 404, "NOT_FOUND")
    assert rows() == before

    Member.objects.filter(user=teammate).update(role="admin")
    for person in (owner, teammate):
        Agent.objects.update(default_mode="draft")
        assert update(as_user(person), agent, default_mode="allow_publish").status_code == 200
