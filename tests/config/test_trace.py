"""Trace identifiers, from the request to the log line."""

from __future__ import annotations

import logging
import threading

import pytest

from agents.models import ApiKey
from auditlog.models import AuditEntry
from config.api.trace import TraceFilter, current_trace_id, start_or_continue_trace
from tests.conftest import ApiClient
from workspaces.models import Workspace

SENT = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{SENT}-b7ad6b7169203331-01"


def line() -> str:
    """Return the trace id of a log line of this thread."""
    record = logging.LogRecord("service", logging.INFO, __file__, 1, "A line.", None, None)
    assert TraceFilter().filter(record)
    return str(vars(record)["trace_id"])


def test_the_trace_id_of_a_request_is_in_its_answer_and_audit_entry(api: ApiClient, workspace: Workspace) -> None:
    body = {"workspace_id": workspace.id, "name": "A", "scopes": ["posts.read"]}
    answer = api.post("/auth/api-keys", body, traceparent=PARENT)

    assert (answer.status_code, answer["x-trace-id"]) == (201, SENT)
    assert AuditEntry.objects.get(resource_id=ApiKey.objects.get(name="A").pk).trace_id == SENT


def test_each_request_has_its_own_trace(api: ApiClient) -> None:
    traces = {api.get("/capabilities")["x-trace-id"] for _ in range(3)}

    assert len(traces) == 3
    assert all(len(bytes.fromhex(trace)) == 16 for trace in traces)


@pytest.mark.parametrize(
    "sent",
    [
        PARENT.upper(),
        PARENT[:-1],
        PARENT + "-extra",
        "ff" + PARENT[2:],
        f"00-{SENT}-{'0' * 16}-01",
        f"00-{SENT[:-1]}g-b7ad6b7169203331-01",
        f"{PARENT}, {PARENT}",
    ],
)
def test_an_invalid_traceparent_is_not_continued(sent: str) -> None:
    assert SENT not in ApiClient().get("/healthz", traceparent=sent)["x-trace-id"].lower()


def test_a_worker_continues_the_trace_of_the_row_and_logs_it() -> None:
    start_or_continue_trace(SENT)

    assert (current_trace_id(), line()) == (SENT, SENT)
    assert start_or_continue_trace() == current_trace_id() != SENT


def test_threads_do_not_share_a_trace() -> None:
    start_or_continue_trace(SENT)
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(line()))
    thread.start()
    thread.join()

    assert found == ["-"]
