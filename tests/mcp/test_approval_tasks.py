"""Posts that wait for a person, as tasks of the extension `io.modelcontextprotocol/tasks`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from posts.models import PostGroup
from tests import factories
from tests.conftest import ApiClient
from tests.mcp.calls import CURRENT, SHOWS_URLS, TASKS, call, planned, request_of, send, use
from tests.people import as_user
from workspaces.models import User, Workspace

pytestmark = pytest.mark.django_db
BOTH = {**SHOWS_URLS, **TASKS}


@pytest.fixture
def agent(agent_client: Any) -> ApiClient:
    made: ApiClient = agent_client(default_mode="requires_confirmation")
    return made


def ask(client: ApiClient, method: str, task_id: str, capabilities: Any = BOTH, **params: Any) -> Any:
    """Send a request about a task and return the HTTP response."""
    body = request_of(method, capabilities, taskId=task_id, **params)
    return send(client.token, body, mcp_protocol_version=CURRENT, mcp_method=method, mcp_name=task_id)


def begin(client: ApiClient, plan_id: str, capabilities: Any = BOTH) -> dict[str, Any]:
    """Commit a plan as a client with these capabilities and return the result."""
    answer = call(client.token, "tools/call", capabilities, name="commit_plan", arguments={"plan_id": plan_id})
    return dict(answer.json()["result"])


def task(client: ApiClient, task_id: str) -> dict[str, Any]:
    answer = ask(client, "tasks/get", task_id)
    assert answer.status_code == 200, answer.content
    result = dict(answer.json()["result"])
    assert (result["resultType"], result["taskId"], result["ttlMs"]) == ("complete", task_id, None)
    return result


def test_the_extension_is_declared_to_clients_that_declare_it(api: ApiClient) -> None:
    declared = [call(api.token, "server/discover", each).json()["result"]["capabilities"] for each in (TASKS, {})]

    assert declared == [{"tools": {}, **TASKS}, {"tools": {}}]


def test_a_task_ends_when_the_person_has_approved(agent: ApiClient, account: ConnectedAccount, owner: User) -> None:
    plan_id = planned(agent.token, account.id)
    begun = begin(agent, plan_id)
    group = PostGroup.objects.get()
    assert (begun["resultType"], begun["status"]) == ("task", "input_required")
    assert not {"result", "inputRequests", "structuredContent"} & begun.keys()

    waiting = task(agent, begun["taskId"])
    assert waiting["status"] == "input_required"
    [request] = waiting["inputRequests"].values()
    assert (request["params"]["mode"], request["params"]["url"].endswith(f"/posts/{group.id}")) == ("url", True)
    accepted = ask(agent, "tasks/update", begun["taskId"], inputResponses={"approval": {"action": "accept"}})
    assert accepted.json()["result"]["resultType"] == "complete"
    assert task(agent, begun["taskId"])["status"] == "input_required"

    as_user(owner).post(f"/posts/{group.id}/confirm", {"content_version": 1})
    ended = task(agent, begun["taskId"])
    content = ended["result"]["structuredContent"]
    assert (ended["status"], ended["result"]["isError"], content["plan_id"]) == ("completed", False, plan_id)
    assert content["post_group"]["status"] == "publishing"
    assert json.loads(ended["result"]["content"][0]["text"]) == content


def test_a_rejected_post_completes_its_task_with_the_reason(agent: ApiClient, account: ConnectedAccount, owner: User) -> None:
    task_id = begin(agent, planned(agent.token, account.id))["taskId"]
    as_user(owner).post(f"/posts/{PostGroup.objects.get().id}/reject", {"reason": "Not today"})

    ended = task(agent, task_id)
    assert (ended["status"], "inputRequests" in ended) == ("completed", False)
    assert ended["result"]["structuredContent"]["post_group"]["rejection_reason"] == "Not today"


def test_a_task_is_cancelled_with_its_post(agent: ApiClient, account: ConnectedAccount) -> None:
    task_id = begin(agent, planned(agent.token, account.id))["taskId"]

    assert [ask(agent, "tasks/cancel", task_id).json()["result"]["resultType"] for _ in range(2)] == ["complete"] * 2
    assert PostGroup.objects.get().status == "cancelled"
    assert (task(agent, task_id)["status"], "result" in task(agent, task_id)) == ("cancelled", False)


def test_the_end_of_a_task_leaves_an_approved_post_alone(agent: ApiClient, account: ConnectedAccount, owner: User) -> None:
    task_id = begin(agent, planned(agent.token, account.id))["taskId"]
    as_user(owner).post(f"/posts/{PostGroup.objects.get().id}/confirm", {"content_version": 1})

    assert ask(agent, "tasks/cancel", task_id).status_code == 200
    assert PostGroup.objects.get().status == "publishing"


def test_who_may_not_cancel_the_post_may_not_cancel_its_task(
    agent: ApiClient, agent_client: Any, account: ConnectedAccount
) -> None:
    task_id = begin(agent, planned(agent.token, account.id))["taskId"]
    reader = agent_client(scopes=["posts.read"])

    assert ask(reader, "tasks/cancel", task_id).json()["error"]["code"] == -32602
    assert PostGroup.objects.get().status == "pending_confirmation"


@pytest.mark.parametrize("capabilities", [{}, SHOWS_URLS, {**SHOWS_URLS, "extensions": {"io.modelcontextprotocol/tasks": 1}}])
def test_clients_that_do_not_declare_tasks_have_none(agent: ApiClient, account: ConnectedAccount, capabilities: Any) -> None:
    plan_id = planned(agent.token, account.id)
    assert begin(agent, plan_id, capabilities)["resultType"] != "task"

    task_id = f"{PostGroup.objects.get().id}.{plan_id}"
    for method in ("tasks/get", "tasks/update", "tasks/cancel"):
        refused = ask(agent, method, task_id, capabilities, inputResponses={})
        error = refused.json()["error"]
        assert (refused.status_code, error["code"], error["data"]) == (400, -32021, {"requiredCapabilities": TASKS})
    assert PostGroup.objects.get().status == "pending_confirmation"


def test_a_client_that_cannot_show_pages_gets_the_address_for_its_model(agent: ApiClient, account: ConnectedAccount) -> None:
    result = begin(agent, planned(agent.token, account.id), TASKS)

    assert (result["resultType"], bool(result["structuredContent"]["approval_url"])) == ("complete", True)


def test_posts_that_need_nobody_are_no_tasks(api: ApiClient, account: ConnectedAccount) -> None:
    assert begin(api, planned(api.token, account.id))["resultType"] == "complete"


def test_unknown_tasks(agent: ApiClient, account: ConnectedAccount, stranger: User) -> None:
    stranger_api = ApiClient(factories.workspace_key(Workspace.objects.get(owner_user=stranger)))
    task_id = begin(agent, planned(agent.token, account.id))["taskId"]

    for client, each in ((stranger_api, task_id), (agent, "nothing"), (agent, f"x{task_id}")):
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            refused = ask(client, method, each, inputResponses={})
            assert (refused.status_code, refused.json()["error"]["code"]) == (400, -32602)
    body = request_of("tasks/get", BOTH, taskId=task_id)
    unnamed = send(agent.token, body, mcp_protocol_version=CURRENT, mcp_method="tasks/get")
    assert unnamed.json()["error"]["code"] == -32020
    older = {"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"taskId": task_id}}
    assert send(agent.token, older, mcp_protocol_version="2025-11-25").json()["error"]["code"] == -32601
    assert use(agent.token, "get_post", post_group_id=PostGroup.objects.get().id)["approval_url"]
