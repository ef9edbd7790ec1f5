"""The Model Context Protocol endpoint, POST /mcp: versions, refusals and the tools that read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from tests.conftest import ApiClient
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db
META = "io.modelcontextprotocol/"
CURRENT = "2026-07-28"


def send(token: str | None, body: Any, **headers: str) -> Any:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if token:
        given["authorization"] = f"Bearer {token}"
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Client().post("/mcp", content, content_type="application/json", headers=given)


def call(token: str, method: str, **params: Any) -> Any:
    """Send a request of the current revision."""
    meta = {f"{META}protocolVersion": CURRENT, f"{META}clientCapabilities": {}}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    name = {"mcp_name": params["name"]} if "name" in params else {}
    return send(token, body, mcp_protocol_version=CURRENT, mcp_method=method, **name)


def test_discover_and_list_of_tools(api: ApiClient) -> None:
    assert api.token
    discovered = call(api.token, "server/discover").json()["result"]
    response = call(api.token, "tools/list")
    tools = response.json()["result"]["tools"]

    assert discovered["supportedVersions"] == [CURRENT, "2025-11-25", "2025-06-18"]
    assert discovered["resultType"] == "complete"
    assert [tool["name"] for tool in tools] == ["find_posts", "get_post", "usage"]
    assert all(len(tool["annotations"]) == 4 and tool["outputSchema"]["type"] == "object" for tool in tools)
    assert len(response.content) < 12_000
    assert response["x-trace-id"]
    assert "RateLimit-Limit" in response


def test_a_tool_reads_posts_and_usage(api: ApiClient, workspace: Workspace) -> None:
    assert api.token
    found = call(api.token, "tools/call", name="find_posts", arguments={}).json()["result"]
    usage = call(api.token, "tools/call", name="usage", arguments={}).json()["result"]

    assert found["structuredContent"]["posts"] == []
    assert json.loads(found["content"][0]["text"]) == found["structuredContent"]
    assert usage["structuredContent"]["workspace_id"] == workspace.id


def test_what_the_model_can_correct_is_a_result(api: ApiClient) -> None:
    assert api.token
    unknown = call(api.token, "tools/call", name="usage", arguments={"month": 1}).json()["result"]
    absent = call(api.token, "tools/call", name="get_post", arguments={"post_group_id": "pgr_x"}).json()["result"]

    assert unknown["isError"]
    assert unknown["structuredContent"]["details"][0]["field"] == "month"
    assert absent["isError"]
    assert absent["structuredContent"]["code"] in ("NOT_FOUND", "VALIDATION_FAILED")


@pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18"])
def test_older_clients_are_answered_without_sessions(api: ApiClient, version: str) -> None:
    body = {"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": {"protocolVersion": version}}
    begun = send(api.token, body)
    note = send(api.token, {"jsonrpc": "2.0", "method": "notifications/initialized"}, mcp_protocol_version=version)
    unknown = send(api.token, {"jsonrpc": "2.0", "id": 2, "method": "x"}, mcp_protocol_version=version)

    assert begun.json()["result"]["protocolVersion"] == version
    assert "Mcp-Session-Id" not in begun
    assert (note.status_code, note.content) == (202, b"")
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (200, -32601)


def test_errors_of_the_protocol(api: ApiClient) -> None:
    assert api.token
    meta = {f"{META}protocolVersion": "2027-01-01", f"{META}clientCapabilities": {}}
    newer = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
    answers = [
        (send(api.token, b"{"), 400, -32700),
        (send(api.token, []), 400, -32600),
        (call(api.token, "initialize"), 404, -32601),
        (call(api.token, "tools/call", name="nothing"), 400, -32602),
        (send(api.token, newer, mcp_protocol_version="2027-01-01"), 400, -32020),
        (send(api.token, newer, mcp_protocol_version="2027-01-01", mcp_method="tools/list"), 400, -32022),
        (send(api.token, {**newer, "params": {}}, mcp_protocol_version=CURRENT), 400, -32602),
    ]

    assert [(answer.status_code, answer.json()["error"]["code"]) for answer, *_ in answers] == [
        tuple(expected) for _, *expected in answers
    ]


def test_refusals_of_http_are_answered_as_the_api_answers(api: ApiClient) -> None:
    client, bearer = Client(), {"authorization": f"Bearer {api.token}"}

    assert client.get("/mcp", headers=bearer).status_code == 405
    assert client.delete("/mcp", headers=bearer).json()["code"] == "METHOD_NOT_ALLOWED"
    assert send(None, {}).status_code == 401
    assert send(api.token, {}, origin="https://elsewhere.example").status_code == 403
    assert client.post("/mcp", b"{}", content_type="text/plain", headers=bearer).status_code == 415
