"""Posts that a person must approve: what an agent is told, and how a client that can show pages is asked to show theirs."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from posts.models import PostGroup
from tests.conftest import ApiClient
from tests.mcp.calls import SHOWS_URLS, call, planned, send, use
from tests.people import as_user
from tests.posts.rows import TOMORROW
from workspaces.models import User

pytestmark = pytest.mark.django_db
ACCEPTED = {"approval": {"action": "accept"}}


@pytest.fixture
def agent(agent_client: Any) -> ApiClient:
    made: ApiClient = agent_client(default_mode="requires_confirmation")
    return made


def commit(agent: ApiClient, plan_id: str, **params: Any) -> Any:
    """Commit a plan as a client that can show pages."""
    arguments = {"plan_id": plan_id}
    answer = call(agent.token, "tools/call", SHOWS_URLS, name="commit_plan", arguments=arguments, **params)
    return answer.json().get("result") or answer.json()["error"]


def test_a_client_that_cannot_show_pages_gets_the_address(agent: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    answer = use(agent.token, "commit_plan", plan_id=planned(agent.token, account.id, scheduled_at=TOMORROW))

    assert answer["post_group"]["status"] == "pending_confirmation"
    assert answer["approval_url"].endswith(f"/posts/{answer['post_group']['id']}")
    assert "approval_url" in answer["next"]


@pytest.mark.parametrize("capabilities", [{"elicitation": {}}, {"elicitation": {"form": {}}}, {"elicitation": []}])
def test_a_client_with_forms_only_is_not_asked(agent: ApiClient, account: ConnectedAccount, capabilities: Any) -> None:
    arguments = {"plan_id": planned(agent.token, account.id)}
    answer = call(agent.token, "tools/call", capabilities, name="commit_plan", arguments=arguments)

    assert answer.json()["result"]["resultType"] == "complete"


def test_a_client_is_asked_to_show_the_page_and_its_yes_approves_nothing(
    agent: ApiClient, account: ConnectedAccount, owner: User, clock: Any
) -> None:
    plan_id = planned(agent.token, account.id, scheduled_at=TOMORROW)
    asked = commit(agent, plan_id)

    assert (asked["resultType"], "structuredContent" in asked) == ("input_required", False)
    [request] = asked["inputRequests"].values()
    assert (request["method"], request["params"]["mode"]) == ("elicitation/create", "url")
    group = PostGroup.objects.get()
    assert request["params"]["url"].endswith(f"/posts/{group.id}")

    def repeated() -> dict[str, Any]:
        result = commit(agent, plan_id, requestState=asked["requestState"], inputResponses=ACCEPTED)
        assert result["resultType"] == "complete"
        shown: dict[str, Any] = result["structuredContent"]
        return shown

    assert repeated()["post_group"]["status"] == "pending_confirmation"
    as_user(owner).post(f"/posts/{group.id}/confirm", {"content_version": 1})
    decided = repeated()
    assert (decided["post_group"]["status"], "approval_url" in decided) == ("scheduled", False)
    assert PostGroup.objects.count() == 1


def test_a_rejection_is_reported_with_its_reason(
    agent: ApiClient, account: ConnectedAccount, owner: User, clock: Any
) -> None:
    plan_id = planned(agent.token, account.id)
    asked = commit(agent, plan_id)
    as_user(owner).post(f"/posts/{PostGroup.objects.get().id}/reject", {"reason": "Not today"})

    shown = commit(agent, plan_id, requestState=asked["requestState"])["structuredContent"]
    assert (shown["post_group"]["status"], shown["post_group"]["rejection_reason"]) == ("rejected", "Not today")
    assert "Do not plan the same post again" in shown["next"]


def test_a_state_belongs_to_one_caller_and_one_call(
    agent: ApiClient, agent_client: Any, account: ConnectedAccount, clock: Any
) -> None:
    plan_id, other_plan = planned(agent.token, account.id), planned(agent.token, account.id, text="Other")
    state = commit(agent, plan_id)["requestState"]
    stranger = agent_client(default_mode="requires_confirmation")

    assert commit(agent, other_plan, requestState=state)["code"] == -32602
    assert commit(stranger, plan_id, requestState=state)["code"] == -32602
    assert commit(agent, plan_id, requestState=f"{state}x")["code"] == -32602
    assert commit(agent, plan_id, requestState={})["code"] == -32602
    arguments = {"plan_id": plan_id, "number": 10**30}
    numbered = call(agent.token, "tools/call", SHOWS_URLS, name="commit_plan", arguments=arguments, requestState=state)
    assert numbered.json()["error"]["code"] == -32602
    assert commit(agent, plan_id, requestState=state, inputResponses=[])["code"] == -32602
    clock.shift(3601)
    assert commit(agent, plan_id, requestState=state)["code"] == -32602
    assert PostGroup.objects.count() == 1


def test_a_client_of_an_older_revision_gets_the_address(agent: ApiClient, account: ConnectedAccount) -> None:
    params = {"name": "commit_plan", "arguments": {"plan_id": planned(agent.token, account.id)}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = send(agent.token, body, mcp_protocol_version="2025-11-25").json()["result"]

    assert answer["structuredContent"]["approval_url"]


def test_a_post_that_needs_nobody_is_not_asked_about(api: ApiClient, account: ConnectedAccount) -> None:
    assert commit(api, planned(api.token, account.id))["structuredContent"]["post_group"]["status"] == "publishing"
