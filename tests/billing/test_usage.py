"""Tests of GET /usage and GET /agents/{agent_id}/usage."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import transaction
from pytest_django import DjangoAssertNumQueries

from agents.models import Agent
from billing import services
from config.db.ids import new_id
from tests import factories
from tests.billing.holds import hold_costs
from tests.billing.rows import APRIL, MARCH, charges, make_agent
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.people import as_user
from workspaces.models import User, Workspace

NOTHING = {"published": 0, "failed": 0, "url_posts": 0, "spend_cents": 0, "by_platform": []}


@pytest.fixture
def workspace(owner: User) -> Workspace:
    """A workspace with 100 cents of free credit, a cap of 200 cents and a cap of five URL posts."""
    return factories.WorkspaceFactory.create(owner_user=owner, monthly_spend_cap_cents=200, monthly_social_url_post_cap=5)


def spend(
    workspace: Workspace,
    *targets: str,
    agent: Agent | None = None,
    platform: str = "bluesky",
    cents: int = 10,
    url_posts: int = 0,
    due: datetime = MARCH,
    end: Callable[..., None] | None = services.settle_holds_as_spent,
    **how: Any,
) -> None:
    """Hold the targets' cost and settle or release each of them."""
    wanted = charges(*targets, cents=cents, url_posts=url_posts, platform=platform)
    with transaction.atomic():
        hold_costs(workspace_id=workspace.pk, agent_id=agent.pk if agent else None, charges=wanted, due=due)
        if end:
            for target in targets:
                end(target_ids=[target], **how)


def usage(client: ApiClient, workspace: Workspace, **query: Any) -> Any:
    asked = {
        "workspace_id": workspace.id,
        "period_start": "2027-03-01T00:00:00Z",
        "workspace_monthly_spend_cap_cents": 200,
        **query,
    }
    return client.get(f"/usage?{urlencode({name: value for name, value in asked.items() if value is not None})}")


def agent_usage(client: ApiClient, agent: Agent, period_start: str = "2027-03-01T00:00:00Z") -> Any:
    return client.get(f"/agents/{agent.id}/usage?{urlencode({'period_start': period_start})}")


def test_a_months_usage_is_returned_by_platform(api: ApiClient, workspace: Workspace) -> None:
    agent = make_agent(workspace)
    spend(workspace, "tgt_1", "tgt_2", platform="x", cents=20, url_posts=1)
    spend(workspace, "tgt_3", platform="bluesky", cents=1)
    spend(workspace, "tgt_4", platform="bluesky", cents=2, agent=agent)
    spend(workspace, "tgt_5", platform="mastodon", end=services.release_holds, failed=True)
    spend(workspace, "tgt_6", platform="mastodon", end=services.release_holds, failed=False)
    spend(workspace, "tgt_7", cents=30, end=None)
    spend(workspace, "tgt_8", due=APRIL)

    assert usage(api, workspace).json() == {
        "workspace_id": workspace.id,
        "period_start": "2027-03-01T00:00:00Z",
        "period_end": "2027-04-01T00:00:00Z",
        "totals": {
            "published": 4,
            "failed": 1,
            "url_posts": 2,
            "spend_cents": 43,
            "by_platform": [
                {"platform": "bluesky", "published": 2, "failed": 0, "spend_cents": 3},
                {"platform": "mastodon", "published": 0, "failed": 1, "spend_cents": 0},
                {"platform": "x", "published": 2, "failed": 0, "spend_cents": 40},
            ],
        },
        "spend_cap": {
            "cap_cents": 200,
            "free_credit_cents": 100,
            "spent_cents": 43,
            "reserved_cents": 30,
            "remaining_cents": 227,
            "exceeded": False,
        },
    }


def test_an_agents_usage_has_its_own_cap(api: ApiClient, workspace: Workspace) -> None:
    agent, other = make_agent(workspace, cap=50), make_agent(workspace)
    spend(workspace, "tgt_1", agent=agent, cents=20)
    spend(workspace, "tgt_2", agent=agent, cents=5, end=None)
    spend(workspace, "tgt_3", agent=other)
    spend(workspace, "tgt_4")

    assert agent_usage(api, agent).json() == {
        "workspace_id": workspace.id,
        "agent_id": agent.id,
        "period_start": "2027-03-01T00:00:00Z",
        "period_end": "2027-04-01T00:00:00Z",
        "totals": {
            "published": 1,
            "failed": 0,
            "url_posts": 0,
            "spend_cents": 20,
            "by_platform": [{"platform": "bluesky", "published": 1, "failed": 0, "spend_cents": 20}],
        },
        "spend_cap": {
            "cap_cents": 50,
            "free_credit_cents": 0,
            "spent_cents": 20,
            "reserved_cents": 5,
            "remaining_cents": 25,
            "exceeded": False,
        },
    }


def test_an_agent_without_a_cap_has_null_remaining(api: ApiClient, workspace: Workspace) -> None:
    body = agent_usage(api, make_agent(workspace)).json()

    assert body["totals"] == NOTHING
    assert body["spend_cap"] == {
        "cap_cents": None,
        "free_credit_cents": 0,
        "spent_cents": 0,
        "reserved_cents": 0,
        "remaining_cents": None,
        "exceeded": False,
    }


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("2027-03-31T23:59:59Z", "2027-03-01T00:00:00Z", "2027-04-01T00:00:00Z"),
        ("2027-04-01T01:00:00+02:00", "2027-03-01T00:00:00Z", "2027-04-01T00:00:00Z"),
        ("2027-03-31T23:00:00-02:00", "2027-04-01T00:00:00Z", "2027-05-01T00:00:00Z"),
        ("2027-12-15T00:00:00Z", "2027-12-01T00:00:00Z", "2028-01-01T00:00:00Z"),
        ("2028-02-29T12:00:00Z", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z"),
        ("9999-11-30T00:00:00Z", "9999-11-01T00:00:00Z", "9999-12-01T00:00:00Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "0001-02-01T00:00:00Z"),
    ],
)
def test_the_period_is_the_utc_month_of_its_start(
    api: ApiClient, workspace: Workspace, asked: str, start: str, end: str
) -> None:
    agent = make_agent(workspace)
    for answer in (usage(api, workspace, period_start=asked), agent_usage(api, agent, asked)):
        body = answer.json()
        assert (body["period_start"], body["period_end"]) == (start, end)


def test_the_cap_in_the_query_replaces_the_stored_one(api: ApiClient, workspace: Workspace) -> None:
    spend(workspace, "tgt_1", cents=150)

    lower = usage(api, workspace, workspace_monthly_spend_cap_cents=0).json()["spend_cap"]
    higher = usage(api, workspace, workspace_monthly_spend_cap_cents=2**63 - 1).json()["spend_cap"]

    assert lower == {
        "cap_cents": 0,
        "free_credit_cents": 100,
        "spent_cents": 150,
        "reserved_cents": 0,
        "remaining_cents": 0,
        "exceeded": True,
    }
    assert (higher["cap_cents"], higher["remaining_cents"]) == (2**63 - 1, 2**63 - 1 - 150)
    workspace.refresh_from_db()
    assert workspace.monthly_spend_cap_cents == 200


def test_read_access_by_caller(
    workspace: Workspace, owner: User, teammate: User, stranger: User, key_with: Callable[..., ApiClient]
) -> None:
    agent = make_agent(workspace)
    for client in (as_user(owner), as_user(teammate), key_with("usage.read")):
        assert usage(client, workspace).json()["totals"] == NOTHING
        assert agent_usage(client, agent).json()["totals"] == NOTHING
    for answer in (usage(key_with("logs.read"), workspace), agent_usage(key_with("logs.read"), agent)):
        assert_envelope(answer, 403, "SCOPE_MISSING")
    for answer in (usage(as_user(stranger), workspace), agent_usage(as_user(stranger), agent)):
        assert_envelope(answer, 404, "NOT_FOUND")
    assert_envelope(agent_usage(as_user(owner), Agent(id=new_id("agt"))), 404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("workspace_id", None),
        ("period_start", None),
        ("workspace_monthly_spend_cap_cents", None),
        ("workspace_monthly_spend_cap_cents", "-1"),
        ("workspace_monthly_spend_cap_cents", "1.5"),
        ("workspace_monthly_spend_cap_cents", str(2**63)),
        ("period_start", "2027-03-01"),
        ("period_start", "2027-03-01T00:00:00"),
        ("period_start", "9999-12-01T00:00:00Z"),
        ("free_credit_cents", "1"),
    ],
)
def test_an_invalid_query_is_refused(api: ApiClient, workspace: Workspace, name: str, value: str | None) -> None:
    body = assert_envelope(usage(api, workspace, **{name: value}), 422, "VALIDATION_FAILED")

    assert [detail["field"] for detail in body["details"]] == [name]


def test_the_number_of_queries_does_not_depend_on_usage(
    api: ApiClient, workspace: Workspace, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    usage(api, workspace)  # the key's last_used_at is written once a minute
    for number in range(6):
        spend(workspace, f"tgt_{number}", platform=f"platform-{number % 3}", agent=make_agent(workspace))

    with django_assert_num_queries(4):  # the key, the caps, the month, the totals
        assert usage(api, workspace).json()["totals"]["published"] == 6
