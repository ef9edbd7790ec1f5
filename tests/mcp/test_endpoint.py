"""The Model Context Protocol endpoint, POST /mcp: revisions, headers, errors of the protocol, and refusals of HTTP."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from config.mcp.methods import constant_result_json
from tests import factories
from tests.conftest import ApiClient
from tests.mcp.calls import CURRENT, META, call, request_of, send
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db
TOOLS = ["context", "plan_post", "plan_change", "commit_plan", "find_posts", "get_post", "add_media", "usage"]


def outcome(answer: Any) -> tuple[int, int]:
    """Return the HTTP status and the JSON-RPC error code of an answer."""
    return answer.status_code, answer.json()["error"]["code"]


def test_discover_and_list_of_tools(api: ApiClient) -> None:
    discovered = call(api.token, "server/discover").json()["result"]
    response = call(api.token, "tools/list")
    listed = response.json()["result"]

    assert discovered["supportedVersions"] == [CURRENT, "2025-11-25", "2025-06-18"]
    assert discovered["capabilities"] == {"tools": {}}
    for result in (discovered, listed):
        assert (result["resultType"], result["cacheScope"], result["ttlMs"] > 0) == ("complete", "private", True)
        assert result["_meta"][f"{META}serverInfo"]["name"]
    assert [tool["name"] for tool in listed["tools"]] == TOOLS
    assert len(response.content) < 12_000
    assert response["x-trace-id"]
    assert "RateLimit-Limit" in response


def test_tools_say_what_they_may_do(api: ApiClient) -> None:
    tools = {tool["name"]: tool for tool in call(api.token, "tools/list").json()["result"]["tools"]}
    hints = {name: tool["annotations"] for name, tool in tools.items()}

    assert {name for name, hint in hints.items() if not hint["readOnlyHint"]} == {"commit_plan", "add_media"}
    assert [hints["commit_plan"][f"{name}Hint"] for name in ("destructive", "idempotent", "openWorld")] == [True] * 3
    for tool in tools.values():
        assert {"title", "description", "inputSchema", "outputSchema"} <= tool.keys()
        assert len(tool["annotations"]) == 5
        assert (tool["inputSchema"]["type"], tool["outputSchema"]["type"]) == ("object", "object")
        assert tool["inputSchema"]["additionalProperties"] is False


@pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18"])
def test_older_clients_are_answered_without_sessions(api: ApiClient, version: str) -> None:
    def ask(method: str, number: int = 2, **params: Any) -> Any:
        body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        return send(api.token, body, mcp_protocol_version=version)

    body = {"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": {"protocolVersion": version}}
    begun = send(api.token, body)
    note = send(api.token, {"jsonrpc": "2.0", "method": "notifications/initialized"}, mcp_protocol_version=version)

    assert begun.json()["result"]["protocolVersion"] == version
    assert "Mcp-Session-Id" not in begun
    assert (note.status_code, note.content) == (202, b"")
    assert ask("ping").json() == {"jsonrpc": "2.0", "id": 2, "result": {}}
    listed = ask("tools/list").json()["result"]
    assert (listed.keys(), len(listed["tools"])) == ({"tools"}, 8)
    assert ask("tools/call", name="usage", arguments={}).json()["result"].keys() == {
        "content",
        "structuredContent",
        "isError",
    }
    assert outcome(ask("x")) == (200, -32601)
    assert outcome(ask("server/discover")) == (200, -32601)
    assert outcome(ask("tools/call", name="x")) == (200, -32602)


def test_an_unknown_older_revision_is_offered_the_newest_of_them(api: ApiClient) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2024-11-05"}}

    assert send(api.token, body).json()["result"]["protocolVersion"] == "2025-11-25"
    assert outcome(send(api.token, {**body, "method": "tools/list"})) == (400, -32600)
    assert outcome(send(api.token, {**body, "method": "tools/list"}, mcp_protocol_version="2025-03-26")) == (400, -32600)


def test_errors_of_the_protocol(api: ApiClient) -> None:
    body = request_of("tools/list")
    meta = body["params"]["_meta"]
    newer = {**body, "params": {"_meta": {**meta, f"{META}protocolVersion": "2027-01-01"}}}
    without_capabilities = {**body, "params": {"_meta": {f"{META}protocolVersion": CURRENT}}}
    headers = {"mcp_protocol_version": CURRENT, "mcp_method": "tools/list"}
    answers = [
        (send(api.token, b"{"), 400, -32700),
        (send(api.token, []), 400, -32600),
        (send(api.token, [body]), 400, -32600),
        (send(api.token, {**body, "id": None}, **headers), 400, -32600),
        (send(api.token, {**body, "id": True}, **headers), 400, -32600),
        (send(api.token, {"jsonrpc": "2.0", "id": 1, "result": {}}, **headers), 400, -32600),
        (send(api.token, {**body, "params": []}, **headers), 400, -32602),
        (send(api.token, {**body, "params": {}}, **headers), 400, -32602),
        (send(api.token, without_capabilities, **headers), 400, -32602),
        (send(api.token, newer, mcp_protocol_version="2027-01-01"), 400, -32020),
        (send(api.token, newer, mcp_protocol_version="2027-01-01", mcp_method="tools/list"), 400, -32022),
        (call(api.token, "tools/call", name="nothing"), 400, -32602),
        *((call(api.token, method), 404, -32601) for method in ("initialize", "ping", "logging/setLevel", "prompts/list")),
    ]

    assert [outcome(answer) for answer, *_ in answers] == [tuple(expected) for _, *expected in answers]
    assert answers[5][0].json()["id"] == 1
    assert answers[10][0].json()["error"]["data"] == {
        "supported": [CURRENT, "2025-11-25", "2025-06-18"],
        "requested": "2027-01-01",
    }


def test_headers_must_agree_with_the_body(api: ApiClient) -> None:
    body = request_of("tools/call", name="usage", arguments={})
    right = {"mcp_protocol_version": CURRENT, "mcp_method": "tools/call", "mcp_name": "usage"}
    encoded = f"=?base64?{b64encode(b'usage').decode()}?="

    for accepted in ({}, {"mcp_name": encoded}, {"mcp_name": " usage "}, {"mcp_method": "\ttools/call"}):
        assert send(api.token, body, **{**right, **accepted}).status_code == 200
    for refused in (
        {"mcp_name": "context"},
        {"mcp_name": "USAGE"},
        {"mcp_name": "usage,usage"},  # as servers join a header that is sent twice
        {"mcp_name": "=?base64?%%?="},
        {"mcp_method": "tools/list"},
        {"mcp_method": "tools/call,tools/call"},
        {"mcp_protocol_version": f"{CURRENT},{CURRENT}"},
        {"mcp_protocol_version": "2025-11-25"},
    ):
        assert outcome(send(api.token, body, **{**right, **refused})) == (400, -32020), refused
    for missing in right:
        kept = {name: value for name, value in right.items() if name != missing}
        assert outcome(send(api.token, body, **kept)) == (400, -32020), missing


def test_refusals_of_http_are_answered_as_the_api_answers(api: ApiClient) -> None:
    client, bearer = Client(), {"authorization": f"Bearer {api.token}"}
    body = request_of("tools/list")
    refused = [
        (client.get("/mcp", headers=bearer), 405, "METHOD_NOT_ALLOWED"),
        (client.delete("/mcp", headers=bearer), 405, "METHOD_NOT_ALLOWED"),
        (send(None, body), 401, "UNAUTHENTICATED"),
        (send("sps_key_x", body), 401, "UNAUTHENTICATED"),
        (send(api.token, body, origin="https://elsewhere.example"), 403, "FORBIDDEN"),
        (send(api.token, body, accept="text/html"), 406, "NOT_ACCEPTABLE"),
        (client.post("/mcp", b"{}", content_type="text/plain", headers=bearer), 415, "UNSUPPORTED_MEDIA_TYPE"),
        (send(api.token, b"[" + b" " * 2_000_000 + b"]"), 413, "PAYLOAD_TOO_LARGE"),
    ]

    assert [(answer.status_code, answer.json()["code"]) for answer, *_ in refused] == [tuple(rest) for _, *rest in refused]
    assert refused[0][0]["Allow"] == "POST"
    assert refused[2][0]["WWW-Authenticate"].startswith("Bearer")


def test_requests_count_against_the_rate_limit(workspace: Workspace, settings: Settings) -> None:
    agent = factories.AgentFactory(workspace=workspace, rate_limit_per_minute=2)
    token = factories.agent_key(agent)

    answers = [call(token, "tools/list") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[2].json()["code"] == "RATE_LIMITED"
    assert int(answers[2]["Retry-After"]) > 0


def test_a_claim_token_opens_nothing(workspace: Workspace, api: ApiClient, owner: Any) -> None:
    created = api.post(
        "/agents",
        {
            "workspace_id": workspace.id,
            "owner_user_id": owner.id,
            "name": "Agent",
            "scopes": ["posts.read"],
            "default_mode": "draft",
        },
    ).json()

    assert call(created["claim_token"], "tools/list").status_code == 401


def test_names_of_methods_are_not_kept_in_memory(api: ApiClient) -> None:
    constant_result_json.cache_clear()
    for number in range(3):
        assert outcome(call(api.token, f"unknown/{number}")) == (404, -32601)

    assert constant_result_json.cache_info().currsize == 0
