"""Uses the service's tools with the official Python client of the Model Context Protocol, in both eras of the protocol.

Usage: mcp_client.py URL, with a workspace key in the environment variable API_KEY. It runs in the environment of
requirements-contract.txt. The client validates answers against the protocol's types and the tools' output schemas.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

MODES = {"legacy": "2025-11-25", "auto": "2026-07-28"}
TOOLS = ["context", "plan_post", "plan_change", "commit_plan", "find_posts", "get_post", "add_media", "usage"]


async def use_tools(client: Client, mode: str) -> None:
    """Plan, repair, commit and read a post in the sandbox. Raises AssertionError if an answer is not as documented."""

    async def use(name: str, **arguments: Any) -> dict[str, Any]:
        result = await client.call_tool(name, arguments)
        assert not result.is_error, result.structured_content
        content: dict[str, Any] = result.structured_content
        return content

    assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
    known = await use("context")
    account = next(row for row in known["accounts"] if row["sandbox"])
    refused = await client.call_tool("plan_post", {"text": "word " * 20_000, "targets": [account["account_id"]]})
    assert refused.is_error
    assert refused.structured_content["code"] == "CONTENT_INVALID"
    planned = await use("plan_post", text=f"By the official client, {mode}", targets=[account["account_id"]])
    committed = await use("commit_plan", plan_id=planned["plan"]["id"], wait=True)
    shown = await use("get_post", post_group_id=committed["post_group"]["id"])
    assert shown["post_group"]["plan_hash"] == planned["plan"]["hash"]
    assert (await use("find_posts", query="official client"))["posts"]
    assert "totals" in await use("usage")


async def main() -> None:
    for mode, version in MODES.items():
        headers = {"Authorization": f"Bearer {os.environ['API_KEY']}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(sys.argv[1], http_client=http), mode=mode) as client,
        ):
            assert client.protocol_version == version, client.protocol_version
            await use_tools(client, mode)
        sys.stdout.write(f"The official client, {version}: all tools answer as documented.\n")


if __name__ == "__main__":
    asyncio.run(main())
