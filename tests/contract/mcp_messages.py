"""Validates what the Model Context Protocol endpoint sends against the official types, in each supported revision.

Usage: mcp_messages.py URL, with a workspace key in the environment variable API_KEY, and WORKSPACE_ID, OWNER_USER_ID and
ACCOUNT_ID of a sandbox account. It runs in the environment of requirements-contract.txt. The types have no tasks.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from typing import Any

import httpx2
from mcp_types import JSONRPCError, JSONRPCResponse, jsonrpc_message_adapter
from mcp_types.methods import validate_server_result

CURRENT, OLDER = "2026-07-28", ("2025-11-25", "2025-06-18")
META = "io.modelcontextprotocol/"


class Endpoint:
    """The endpoint as a client of one revision uses it. Each answer is validated; `sent` counts their kinds."""

    def __init__(self, url: str, token: str, version: str) -> None:
        self.url, self.token, self.version = url, token, version
        self.sent = Counter[str]()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and return its validated result, or the error as `{"error": …}`."""
        headers = {"Authorization": f"Bearer {self.token}", "MCP-Protocol-Version": self.version}
        if self.version == CURRENT:
            headers |= {"Mcp-Method": method, **({"Mcp-Name": params["name"]} if "name" in params else {})}
            capabilities: dict[str, Any] = {"elicitation": {"url": {}}}
            params["_meta"] = {f"{META}protocolVersion": CURRENT, f"{META}clientCapabilities": capabilities}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        message = jsonrpc_message_adapter.validate_json(httpx2.post(self.url, json=body, headers=headers, timeout=60).content)
        if isinstance(message, JSONRPCError):
            self.sent["error"] += 1
            return {"error": message.error}
        assert isinstance(message, JSONRPCResponse), message
        validate_server_result(method, self.version, message.result)
        self.sent[str(message.result.get("resultType", "complete"))] += 1
        return message.result

    def use(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.ask("tools/call", name=tool, arguments=arguments)


def use_everything(endpoint: Endpoint, account_id: str) -> None:
    """Ask for each kind of message that the endpoint sends to a client of this revision."""
    current = endpoint.version == CURRENT
    for method in ("server/discover",) if current else ("initialize", "ping"):
        told = {"capabilities": {}, "clientInfo": {"name": "types", "version": "1"}} if method == "initialize" else {}
        endpoint.ask(method, **({"protocolVersion": endpoint.version, **told} if told else {}))
    tools = {tool["name"] for tool in endpoint.ask("tools/list")["tools"]}
    answers = {name: endpoint.use(name) for name in ("context", "usage", "find_posts")}
    plan = endpoint.use("plan_post", text="By the official types", targets=[account_id])["structuredContent"]["plan"]
    answers["plan_post"] = plan
    committed = answers["commit_plan"] = endpoint.use("commit_plan", plan_id=plan["id"])
    assert ("inputRequests" in committed) == current, committed
    group_id = endpoint.use("find_posts")["structuredContent"]["posts"][0]["post_group_id"]
    answers["get_post"] = endpoint.use("get_post", post_group_id=group_id)
    answers["plan_change"] = endpoint.use("plan_change", post_group_id=group_id, change="cancel")
    answers["add_media"] = endpoint.use("add_media", source_url="https://127.0.0.1/refused.png")
    assert answers["add_media"]["isError"]
    assert answers.keys() == tools
    assert "error" in endpoint.ask("prompts/list")
    assert "error" in endpoint.ask("tools/call", name="nothing")
    sys.stdout.write(f"{endpoint.version}: every message has the official types ({dict(endpoint.sent)}).\n")


def new_agent_key(base: str) -> str:
    """Create an agent whose posts a person must approve, and return its key."""
    headers = {"Authorization": f"Bearer {os.environ['API_KEY']}"}
    fields = {"workspace_id": os.environ["WORKSPACE_ID"], "owner_user_id": os.environ["OWNER_USER_ID"], "name": "Types"}
    rules: dict[str, Any] = {
        "default_mode": "requires_confirmation",
        "scopes": ["posts.read", "posts.publish", "accounts.read", "usage.read", "media.upload"],
    }
    made = httpx2.post(f"{base}/agents", json={**fields, **rules}, headers=headers).json()
    answer = httpx2.post(f"{base}/agents/{made['agent']['id']}/rotate-key", json={}, headers=headers).json()
    return str(answer["token"])


if __name__ == "__main__":
    token = new_agent_key(sys.argv[1].removesuffix("/mcp"))
    for version in (CURRENT, *OLDER):
        use_everything(Endpoint(sys.argv[1], token, version), os.environ["ACCOUNT_ID"])
