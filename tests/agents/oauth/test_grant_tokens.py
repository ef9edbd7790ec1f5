"""Tokens of a grant: refreshing, replays, revocation, and all the ways in which access ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents.models import Agent, OAuthGrant, OAuthToken
from agents.oauth.grants import end_grant_of_agent
from agents.services import revoke_agent
from auditlog.models import AuditEntry
from config.api.caller import Caller
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.oauth_programs import Program, allow
from tests.posts.rows import create
from workspaces.models import User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
API = settings.BASE_URL


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """The frozen clock, set to noon."""
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def issued(clock: Any, browser: Client, program: Program) -> dict[str, Any]:
    """The answer with the first tokens of a grant for the API, which lasts 90 days."""
    return program.connect(browser, resource=API)


def status_of(token: str) -> int:
    """Return the status of an API request with this token."""
    return int(ApiClient(token).get("/capabilities").status_code)


def test_a_refresh_replaces_both_tokens(clock: time_machine.Traveller, program: Program, issued: dict[str, Any]) -> None:
    clock.shift(timedelta(hours=1))
    assert_envelope(ApiClient(issued["access_token"]).get("/capabilities"), 401, "API_KEY_EXPIRED")
    answer = program.refresh(issued["refresh_token"])
    fresh = answer.json()

    assert (answer.status_code, answer["cache-control"], fresh["expires_in"]) == (200, "no-store", 3600)
    assert fresh["access_token"] != issued["access_token"]
    assert fresh["refresh_token"] != issued["refresh_token"]
    assert fresh["scope"] == issued["scope"]
    assert status_of(fresh["access_token"]) == 200


def test_the_same_refresh_within_30_seconds_gets_the_same_tokens(
    clock: time_machine.Traveller, program: Program, issued: dict[str, Any]
) -> None:
    first = program.refresh(issued["refresh_token"]).json()
    clock.shift(timedelta(seconds=30))
    second = program.refresh(issued["refresh_token"]).json()

    assert second == first | {"expires_in": first["expires_in"] - 30}


def test_a_refresh_token_used_again_later_ends_everything(
    clock: time_machine.Traveller, program: Program, issued: dict[str, Any]
) -> None:
    fresh = program.refresh(issued["refresh_token"]).json()
    clock.shift(timedelta(seconds=31))

    assert program.refresh(issued["refresh_token"]).json()["error"] == "invalid_grant"
    assert [status_of(each["access_token"]) for each in (issued, fresh)] == [401, 401]
    assert program.refresh(fresh["refresh_token"]).json()["error"] == "invalid_grant"
    assert AuditEntry.objects.get(operation="oauth.end_grant").metadata["reason"] == "refresh_token_reused"


def test_a_connection_may_be_refreshed_60_times_an_hour(program: Program, issued: dict[str, Any]) -> None:
    token = issued["refresh_token"]
    for _ in range(60):
        token = program.refresh(token).json()["refresh_token"]
    refused = program.refresh(token)

    assert (refused.status_code, refused.json()["error"]) == (429, "temporarily_unavailable")
    assert int(refused["retry-after"]) > 1
    assert OAuthToken.objects.count() == 61


def test_a_refresh_token_lasts_30_days(clock: time_machine.Traveller, program: Program, issued: dict[str, Any]) -> None:
    clock.shift(timedelta(days=30) - timedelta(seconds=1))
    fresh = program.refresh(issued["refresh_token"]).json()
    clock.shift(timedelta(days=30))

    assert program.refresh(fresh["refresh_token"]).json()["error"] == "invalid_grant"


def test_the_last_day_ends_the_tokens(clock: time_machine.Traveller, browser: Client, program: Program) -> None:
    code = allow(browser, program.authorize_path(resource=API), expires_on="2027-03-10")["code"]
    clock.move_to(NOON.replace(hour=12, minute=0, second=30))
    issued = program.exchange(code).json()
    clock.move_to(datetime(2027, 3, 10, 23, 30, tzinfo=UTC))
    fresh = program.refresh(issued["refresh_token"]).json()

    assert fresh["expires_in"] == 1800
    clock.move_to(datetime(2027, 3, 11, tzinfo=UTC))
    assert status_of(fresh["access_token"]) == 401
    assert program.refresh(fresh["refresh_token"]).json()["error"] == "invalid_grant"


def test_the_agent_is_the_maker_across_refreshes(program: Program, issued: dict[str, Any], workspace: Workspace) -> None:
    agent = Agent.objects.get()
    sandbox = factories.AccountFactory(workspace=workspace, sandbox=True)
    fresh = program.refresh(issued["refresh_token"]).json()
    makers = [create(ApiClient(each["access_token"]), sandbox)["created_by"] for each in (issued, fresh)]

    assert makers == [{"actor_type": "agent", "actor_id": agent.id}] * 2


def test_revoking_a_refresh_token_ends_all_tokens(program: Program, issued: dict[str, Any]) -> None:
    fresh = program.refresh(issued["refresh_token"]).json()
    answer = program.revoke(fresh["refresh_token"], token_type_hint="access_token", unknown="ignored")

    assert (answer.status_code, answer["cache-control"]) == (200, "no-store")
    assert [status_of(each["access_token"]) for each in (issued, fresh)] == [401, 401]
    assert program.refresh(fresh["refresh_token"]).status_code == 400
    assert Agent.objects.get().status == "active"


def test_revoking_an_access_token_ends_that_token_only(program: Program, issued: dict[str, Any]) -> None:
    assert program.revoke(issued["access_token"]).status_code == 200
    assert status_of(issued["access_token"]) == 401
    assert status_of(program.refresh(issued["refresh_token"]).json()["access_token"]) == 200


def test_a_program_cannot_use_or_revoke_the_tokens_of_another(program: Program, issued: dict[str, Any]) -> None:
    other = Program()
    other.register()

    assert other.refresh(issued["refresh_token"]).json()["error"] == "invalid_grant"
    assert other.revoke(issued["refresh_token"]).status_code == 200  # as for an unknown token (RFC 7009)
    assert program.revoke(issued["refresh_token"], client_id=None).status_code == 401
    assert status_of(issued["access_token"]) == 200
    assert program.refresh(issued["refresh_token"]).status_code == 200


def test_a_refresh_token_opens_nothing(issued: dict[str, Any]) -> None:
    assert_envelope(ApiClient(issued["refresh_token"]).get("/capabilities"), 401, "UNAUTHENTICATED")


def _revoke(owner: Caller, agent: Agent) -> None:
    revoke_agent(caller=owner, agent_id=agent.id)


def _end(owner: Caller, agent: Agent) -> None:
    end_grant_of_agent(caller=owner, agent_id=agent.id)


def _delete_workspace(owner: Caller, agent: Agent) -> None:
    Workspace.objects.filter(pk=agent.workspace_id).update(status="deleted")


@pytest.mark.parametrize("end", [_revoke, _end, _delete_workspace])
def test_access_ends_at_once(
    program: Program, issued: dict[str, Any], owner: User, end: Callable[[Caller, Agent], None]
) -> None:
    end(Caller("user", owner.id), Agent.objects.get())

    assert_envelope(ApiClient(issued["access_token"]).get("/capabilities"), 401, "API_KEY_REVOKED")
    assert program.refresh(issued["refresh_token"]).json()["error"] == "invalid_grant"


def test_a_revoked_agents_code_cannot_be_exchanged(browser: Client, program: Program, owner: User) -> None:
    code = allow(browser, program.authorize_path())["code"]
    revoke_agent(caller=Caller("user", owner.id), agent_id=Agent.objects.get().id)

    assert program.exchange(code).json()["error"] == "invalid_grant"
    assert OAuthGrant.objects.get().ended_at


def test_changes_of_the_agent_hold_for_its_tokens(issued: dict[str, Any], api: ApiClient) -> None:
    agent = Agent.objects.get()
    changed = api.request("PATCH", f"/agents/{agent.id}", {"scopes": ["posts.read"]})

    assert changed.status_code == 200
    refused = ApiClient(issued["access_token"]).get(f"/accounts?workspace_id={agent.workspace_id}")
    assert_envelope(refused, 403, "SCOPE_MISSING")


def test_one_rate_limit_holds_across_refreshes(program: Program, issued: dict[str, Any]) -> None:
    Agent.objects.update(rate_limit_per_minute=2)
    fresh = program.refresh(issued["refresh_token"]).json()

    assert [status_of(each["access_token"]) for each in (issued, fresh, fresh)] == [200, 200, 429]


def test_a_token_takes_one_query_and_its_use_is_saved_once_a_minute(
    clock: time_machine.Traveller, issued: dict[str, Any]
) -> None:
    assert status_of(issued["access_token"]) == 200
    assert OAuthGrant.objects.get().last_used_at == NOON
    clock.shift(timedelta(seconds=60))
    with CaptureQueriesContext(connection) as queries:
        assert status_of(issued["access_token"]) == 200
    assert len(queries) == 1
    clock.shift(timedelta(seconds=1))
    assert status_of(issued["access_token"]) == 200
    assert OAuthGrant.objects.get().last_used_at == NOON + timedelta(seconds=61)
