"""An agent that knows only what the endpoint tells it plans a post, repairs it by the hints, and commits it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from posts.models import PostGroup
from tests import factories
from tests.conftest import ApiClient
from tests.mcp.calls import result_of, use
from tests.people import as_user
from tests.posts.publishing.worker import run_until_idle
from workspaces.models import User, Workspace

pytestmark = pytest.mark.django_db
MOST_REPAIRS = 5


def apply_hint(arguments: dict[str, Any], hint: dict[str, Any]) -> None:
    """Put the value of a repair hint at the field that it names, such as `targets[1].text`."""
    place: Any = arguments
    *steps, last = re.findall(r"\w+", hint["field"])
    for step in steps:
        key: Any = int(step) if step.isdigit() else step
        if isinstance(place[key], str):
            place[key] = {"account_id": place[key]}
        place = place[key]
    place[last] = hint["value"]


def plan_with_repairs(token: str | None, arguments: dict[str, Any]) -> str:
    """Plan a post, apply the hints of its errors until it is accepted, and return the plan's id."""
    for _ in range(MOST_REPAIRS):
        result = result_of(token, "plan_post", **arguments)
        content = result["structuredContent"]
        if not result["isError"]:
            plan_id: str = content["plan"]["id"]
            return plan_id
        for issue in content["details"]:
            apply_hint(arguments, issue["repair_hint"])
    raise AssertionError(f"Still refused after {MOST_REPAIRS} repairs: {content}")


@pytest.fixture
def accounts(workspace: Workspace) -> list[ConnectedAccount]:
    return [factories.AccountFactory(workspace=workspace, platform=name) for name in ("bluesky", "mastodon", "x")]


def test_an_agent_publishes_to_three_platforms(agent_client: Any, accounts: list[ConnectedAccount], clock: Any) -> None:
    agent = agent_client()
    known = use(agent.token, "context")
    arguments = {"text": "Our news " * 80, "targets": [row["account_id"] for row in known["accounts"]]}

    plan_id = plan_with_repairs(agent.token, arguments)
    group = use(agent.token, "commit_plan", plan_id=plan_id)["post_group"]
    run_until_idle()
    shown = use(agent.token, "get_post", post_group_id=group["id"])

    assert shown["post_group"]["status"] == "published"
    assert all(target["permalink"] for target in shown["post_group"]["targets"])
    assert len({target["text"] for target in shown["post_group"]["targets"]}) > 1
    assert PostGroup.objects.count() == 1


def test_an_agent_with_a_person_behind_it(
    agent_client: Any, accounts: list[ConnectedAccount], owner: User, clock: Any
) -> None:
    agent: ApiClient = agent_client(default_mode="requires_confirmation")
    plan_id = plan_with_repairs(agent.token, {"text": "Our news", "targets": [accounts[0].id]})
    waiting = use(agent.token, "commit_plan", plan_id=plan_id)
    run_until_idle()
    group_id = waiting["post_group"]["id"]
    assert use(agent.token, "get_post", post_group_id=group_id)["post_group"]["status"] == "pending_confirmation"

    as_user(owner).post(f"/posts/{group_id}/confirm", {"content_version": 1})
    run_until_idle()

    assert use(agent.token, "get_post", post_group_id=group_id)["post_group"]["status"] == "published"
