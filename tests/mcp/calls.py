"""Calls of the Model Context Protocol endpoint, as clients of the current and of the older revisions send them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.test import Client

META = "io.modelcontextprotocol/"
CURRENT = "2026-07-28"
SHOWS_URLS: dict[str, Any] = {"elicitation": {"url": {}}}
TASKS: dict[str, Any] = {"extensions": {f"{META}tasks": {}}}


def send(token: str | None, body: Any, **headers: str) -> Any:
    """Send a body to the endpoint and return the HTTP response."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if token:
        given["authorization"] = f"Bearer {token}"
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Client(raise_request_exception=False).post("/mcp", content, content_type="application/json", headers=given)


def request_of(method: str, capabilities: Mapping[str, Any] | None = None, **params: Any) -> dict[str, Any]:
    """Return a request of the current revision."""
    meta = {
        f"{META}protocolVersion": CURRENT,
        f"{META}clientCapabilities": capabilities or {},
        f"{META}clientInfo": {"name": "Test client", "version": "1.2"},
    }
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}


def call(token: str | None, method: str, capabilities: Mapping[str, Any] | None = None, **params: Any) -> Any:
    """Send a request of the current revision and return the HTTP response."""
    name = {"mcp_name": params["name"]} if "name" in params else {}
    body = request_of(method, capabilities, **params)
    return send(token, body, mcp_protocol_version=CURRENT, mcp_method=method, **name)


def result_of(token: str | None, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """Call a tool and return its result, whose text is that of its structured content."""
    answer = call(token, "tools/call", name=tool, arguments=arguments)
    assert answer.status_code == 200, answer.content
    result: dict[str, Any] = answer.json()["result"]
    [content] = result["content"]
    assert (content["type"], json.loads(content["text"])) == ("text", result["structuredContent"])
    assert len(answer.content.decode()) < 100_000
    return result


def use(token: str | None, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """Call a tool that must succeed and return its structured content."""
    result = result_of(token, tool, **arguments)
    assert not result["isError"], result["structuredContent"]
    content: dict[str, Any] = result["structuredContent"]
    return content


def refusal(token: str | None, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """Call a tool that must be refused and return the error envelope."""
    result = result_of(token, tool, **arguments)
    assert result["isError"], result["structuredContent"]
    content: dict[str, Any] = result["structuredContent"]
    assert {"code", "message", "suggested_action", "auto_fixable", "trace_id"} <= content.keys()
    return content


def planned(token: str | None, account_id: str, **arguments: Any) -> str:
    """Plan a post and return the plan's id."""
    given = {"text": "As planned", "targets": [account_id], **arguments}
    plan_id: str = use(token, "plan_post", **given)["plan"]["id"]
    return plan_id
