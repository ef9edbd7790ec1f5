"""Tests of GET /logs?format=csv."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from auditlog.csv_export import BATCH_SIZE
from auditlog.models import AuditEntry
from tests.auditlog.rows import make_entry
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.contract.routes import described
from workspaces.models import Workspace

COLUMNS = [
    *("id", "workspace_id", "actor_type", "actor_id", "via", "operation", "resource_type", "resource_id", "outcome"),
    *("code", "dry_run", "ip", "trace_id", "retention_tier", "metadata", "created_at"),
]


def exported(client: ApiClient, workspace: Workspace, accept: str = "*/*", **query: str) -> Any:
    path = f"/logs?{urlencode({'workspace_id': workspace.id, 'format': 'csv', **query})}"
    return client.get(path, accept=accept)


def rows(answer: Any) -> list[list[str]]:
    assert answer.status_code == 200
    return list(csv.reader(io.StringIO(answer.getvalue().decode(), newline="")))


def test_csv_and_json_contain_the_same_entries(api: ApiClient, workspace: Workspace) -> None:
    make_entry(workspace, code=None, ip=None, metadata={})
    make_entry(workspace, outcome="refused", code="NOT_FOUND", dry_run=True, ip="192.0.2.1", metadata={"a": 'ü, "b"\n'})

    header, *lines = rows(exported(api, workspace))
    shown = api.get(f"/logs?workspace_id={workspace.id}").json()["logs"]

    assert header == COLUMNS
    assert header == list(shown[0])
    for line, entry in zip(lines, shown, strict=True):
        row = dict(zip(header, line, strict=True))
        for name, value in entry.items():
            text = "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            assert row[name] == text


def test_csv_is_a_download_with_the_common_headers(api: ApiClient, workspace: Workspace) -> None:
    answer = exported(api, workspace)

    assert answer["content-type"] == "text/csv; charset=utf-8"
    assert answer["content-disposition"] == f'attachment; filename="logs-{workspace.id}.csv"'
    assert answer["ratelimit-limit"] == "100000"
    assert len(answer["x-trace-id"]) == 32
    assert rows(answer) == [COLUMNS]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_formulas_are_escaped_as_text(api: ApiClient, workspace: Workspace, start: str) -> None:
    make_entry(workspace, resource_id=f"{start}HYPERLINK(1)", actor_id=f"a{start}b")

    _, line = rows(exported(api, workspace))
    assert line[7] == f"'{start}HYPERLINK(1)"
    assert line[3] == f"a{start}b"


def test_filters_apply_and_pages_do_not(api: ApiClient, workspace: Workspace) -> None:
    made = [make_entry(workspace, actor_type="user").id for _ in range(3)]
    make_entry(workspace, actor_type="agent")

    _, *lines = rows(exported(api, workspace, actor_type="user", limit="1"))
    assert [line[0] for line in lines] == made[::-1]


def test_a_long_log_is_streamed_in_pieces_by_one_query(api: ApiClient, workspace: Workspace) -> None:
    entry = make_entry(workspace)
    fields = {name: getattr(entry, name) for name in COLUMNS if name != "id"}
    AuditEntry.objects.bulk_create(AuditEntry(**fields) for _ in range(2 * BATCH_SIZE))
    answer = exported(api, workspace)

    with CaptureQueriesContext(connection) as queries:
        pieces = list(answer.streaming_content)

    assert answer.streaming
    assert [piece.count(b"\r\n") for piece in pieces] == [BATCH_SIZE + 1, BATCH_SIZE, 1]
    assert len(queries) <= 1


@pytest.mark.parametrize("accept", ["text/csv", "*/*", "application/json", "text/html, text/csv;q=0.5"])
def test_csv_can_be_requested_by_the_accept_header(api: ApiClient, workspace: Workspace, accept: str) -> None:
    assert exported(api, workspace, accept=accept)["content-type"] == "text/csv; charset=utf-8"


@pytest.mark.parametrize("accept", ["text/csv", "*/*"])
def test_errors_are_json_for_csv_requests(
    api: ApiClient, workspace: Workspace, key_with: Callable[..., ApiClient], accept: str
) -> None:
    assert_envelope(exported(api, workspace, accept=accept, actor_type="robot"), 422, "VALIDATION_FAILED")
    assert_envelope(exported(key_with("posts.read"), workspace, accept=accept), 403, "SCOPE_MISSING")
    assert_envelope(exported(ApiClient(), workspace, accept=accept), 401, "UNAUTHENTICATED")


def test_another_media_type_is_not_acceptable(api: ApiClient, workspace: Workspace) -> None:
    assert_envelope(exported(api, workspace, accept="text/html"), 406, "NOT_ACCEPTABLE")


@pytest.mark.parametrize("path", ["/logs", "/agents/{agent_id}/logs"])
def test_the_document_names_both_media_types(path: str) -> None:
    content = described()["paths"][path]["get"]["responses"]["200"]["content"]

    assert content["text/csv"] == {"schema": {"type": "string"}}
    assert content["application/json"]["schema"] == {"$ref": "#/components/schemas/LogPage"}
