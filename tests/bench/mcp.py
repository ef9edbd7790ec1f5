"""Benchmarks the MCP endpoint: the commit of plans beside the same over HTTP, and the list of tools.

The requests are sent one after the other, because a plan can be committed only once.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import requests

from tests.bench.api import post_body
from tests.bench.measure import Row, at_most
from tests.bench.service import Service
from tests.bench.sides import cpu_seconds

TURNS, COMMITS, LISTINGS = 8, 50, 500  # turns of each side, commits in a turn, and calls of tools/list
REVISION = "2026-07-28"
Send = Callable[[requests.Session, str], requests.Response]


def rows(service: Service) -> list[Row]:
    """Benchmark the CPU time of commit_plan and of tools/list."""
    with requests.Session() as session:
        session.trust_env = False
        session.headers["Authorization"] = f"Bearer {service.key}"
        return [_commits(service, session), _listings(service, session)]


def _commits(service: Service, session: requests.Session) -> Row:
    def over_http(session: requests.Session, plan_id: str) -> requests.Response:
        return session.post(f"{service.stack.base_url}/plans/{plan_id}/commit", json={}, timeout=60)

    def over_mcp(session: requests.Session, plan_id: str) -> requests.Response:
        return _call(service, session, "tools/call", name="commit_plan", arguments={"plan_id": plan_id})

    spent: dict[Send, float] = {over_mcp: 0.0, over_http: 0.0}
    for turn in range(TURNS + 1):
        for send in spent:
            plans = [_plan(service, number) for number in range(COMMITS)]
            before = cpu_seconds(service.stack.pids("web"))
            for plan_id in plans:
                _succeeded(send(session, plan_id), "post_group")
            if turn:  # the first one warms both up
                spent[send] += cpu_seconds(service.stack.pids("web")) - before
    cost = {send: 1000 * seconds / (TURNS * COMMITS) for send, seconds in spent.items()}
    texts = [f"{cost[send]:.2f} ms CPU" for send in (over_mcp, over_http)]
    name = "commit_plan, beside POST /plans/{id}/commit: CPU"
    return at_most(name, texts[0], cost[over_mcp] / cost[over_http], 1.1, reference=texts[1])


def _listings(service: Service, session: requests.Session) -> Row:
    before = cpu_seconds(service.stack.pids("web"))
    for _ in range(LISTINGS):
        _succeeded(_call(service, session, "tools/list"), "tools")
    cost = 1000 * (cpu_seconds(service.stack.pids("web")) - before) / LISTINGS
    return at_most("tools/list: CPU, ms", f"{cost:.2f} ms CPU", cost, 3)


def _plan(service: Service, number: int) -> str:
    body = post_body(service, number, f"planned {uuid.uuid4().hex}")
    plan_id: str = service.call("POST", "/plans", {"operation": "posts.create", "request": body})["plan"]["id"]
    return plan_id


def _call(service: Service, session: requests.Session, method: str, **params: Any) -> requests.Response:
    keys = {"protocolVersion": REVISION, "clientCapabilities": {}}
    meta = {f"io.modelcontextprotocol/{name}": value for name, value in keys.items()}
    headers = {"MCP-Protocol-Version": REVISION, "Mcp-Method": method, "Mcp-Name": params.get("name")}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    return session.post(f"{service.stack.base_url}/mcp", json=body, headers=headers, timeout=60)


def _succeeded(answer: requests.Response, expected: str) -> None:
    """Raise RuntimeError unless the answer is a success with this name in it."""
    if not answer.ok or f'"{expected}"' not in answer.text or '"isError":true' in answer.text:
        raise RuntimeError(f"{answer.url}: {answer.status_code} {answer.text[:500]}")
