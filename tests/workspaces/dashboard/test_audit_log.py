"""The audit log page: filters, pagination and CSV."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from auditlog.models import AuditEntry
from auditlog.selectors import audit_entries_of_workspace
from config.api.caller import Caller
from config.db.ids import lowest_id_at
from tests.auditlog.rows import make_entry
from tests.pages import Pages, words
from workspaces.models import User, Workspace

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.fixture
def pages(workspace: Workspace, owner: User) -> Pages:
    return Pages(workspace, owner)


def entry_at(workspace: Workspace, at: datetime, **fields: Any) -> AuditEntry:
    """Create an audit entry whose time and id are of this time."""
    return make_entry(workspace, id=lowest_id_at("log", at), created_at=at, **fields)


def operations(pages: Pages, **query: str) -> list[str]:
    """Return the operations of the listed entries, in order."""
    page = pages.get("audit-log", query=query)
    assert page.status_code == 200
    return [row.partition("<code>")[2].partition("</code>")[0] for row in page.content.decode().split("<li>\n")[1:]]


def rows_of(answer: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode(), newline="")))


def test_an_entry_shows_actor_operation_and_outcome(pages: Pages, workspace: Workspace, owner: User) -> None:
    group = "pgr_01h455vb4pex5vsknk084sn02q"
    make_entry(workspace, resource_type="post_group", resource_id=group, metadata={"n": [1], "sandbox": False})
    refused = {"outcome": "refused", "code": "SPEND_CAP_EXCEEDED", "ip": "192.0.2.1", "trace_id": "ab" * 16}
    make_entry(workspace, actor_type="user", actor_id=owner.id, dry_run=True, **refused)

    page = pages.get("audit-log")
    shown = words(page)

    assert f"posts.create by an API key key_1 · with {group} · n [1] · sandbox false Succeeded" in shown
    assert f"posts.create by Owner Dry run {owner.id} from 192.0.2.1 · trace {'ab' * 16} Refused" in shown
    assert f'href="{pages.address("post", post_group_id=group)}"' in page.content.decode()
    assert "stored for 30 days" in shown


def test_an_empty_log_shows_an_explanation(pages: Pages) -> None:
    assert "Nothing has happened yet" in words(pages.get("audit-log"))
    assert "Nothing fits" in words(pages.get("audit-log", query={"operation": "posts.create"}))


def test_filters_combine(pages: Pages, workspace: Workspace, stranger: User) -> None:
    make_entry(workspace, operation="a.one")
    make_entry(workspace, operation="a.two", actor_type="agent", actor_id="agt_1")
    make_entry(workspace, operation="a.two", actor_type="agent", actor_id="agt_2", outcome="refused", code="X")
    make_entry(stranger.owned_workspaces.get(), operation="a.foreign")

    assert operations(pages) == ["a.two", "a.two", "a.one"]
    assert operations(pages, operation="a.one") == ["a.one"]
    assert operations(pages, actor_type="agent", outcome="succeeded") == ["a.two"]
    assert operations(pages, actor_id="agt_2", operation="a.two", outcome="refused") == ["a.two"]
    assert operations(pages, actor_id="agt_2", outcome="succeeded") == []


def test_date_filters_use_the_workspace_timezone_and_include_both_days(pages: Pages, workspace: Workspace) -> None:
    Workspace.objects.update(default_timezone="America/New_York")  # 5 hours behind UTC until 8 March 2026, then 4
    entry_at(workspace, datetime(2026, 3, 8, 4, 59, 59, tzinfo=UTC), operation="a.before")
    entry_at(workspace, datetime(2026, 3, 8, 5, tzinfo=UTC), operation="a.first")
    entry_at(workspace, datetime(2026, 3, 9, 3, 59, 59, tzinfo=UTC), operation="a.last")
    entry_at(workspace, datetime(2026, 3, 9, 4, tzinfo=UTC), operation="a.after")

    assert operations(pages, since="2026-03-08", until="2026-03-08") == ["a.last", "a.first"]
    assert operations(pages, since="2026-03-08") == ["a.after", "a.last", "a.first"]
    assert operations(pages, until="2026-03-08") == ["a.last", "a.first", "a.before"]


@pytest.mark.parametrize("wrong", [{"since": "2026-13-01"}, {"until": "9999-12-31"}, {"since": "0001-01-01"}])
def test_an_invalid_date_shows_an_error_and_gives_no_csv(pages: Pages, workspace: Workspace, wrong: dict[str, str]) -> None:
    make_entry(workspace)
    page = pages.get("audit-log", query=wrong)

    assert page.status_code == 200
    assert 'class="problem"' in page.content.decode()
    assert "Download as CSV" not in words(page)
    assert pages.get("audit-log-csv", query=wrong).status_code == 422


def test_pagination_keeps_the_filters(pages: Pages, workspace: Workspace) -> None:
    for number in range(51):
        make_entry(workspace, operation=f"a.n{number}", actor_id="key_2")
    make_entry(workspace, operation="a.other")

    first = pages.get("audit-log", query={"actor_id": "key_2"})
    further = first.content.decode().partition("Next page")[0].rpartition("cursor=")[2].partition('"')[0]

    assert f"actor_id=key_2&amp;cursor={further}" in first.content.decode()
    assert operations(pages, actor_id="key_2", cursor=further) == ["a.n0"]
    assert pages.get("audit-log", query={"cursor": "x"}).status_code == 422


def test_the_csv_contains_all_filtered_entries(pages: Pages, workspace: Workspace) -> None:
    for number in range(60):
        make_entry(workspace, operation="a.many", metadata={"number": number})
    make_entry(workspace, operation="=a.formula()")

    link = pages.get("audit-log", query={"operation": "a.many"}).content.decode()
    assert f'href="{pages.address("audit-log-csv")}?operation=a.many"' in link
    answer = pages.get("audit-log-csv", query={"operation": "a.many"})
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"] == f'attachment; filename="logs-{workspace.id}.csv"'
    assert [row["metadata"] for row in rows_of(answer)] == [f'{{"number": {n}}}' for n in range(59, -1, -1)]
    assert rows_of(pages.get("audit-log-csv"))[0]["operation"] == "'=a.formula()"


def test_members_can_read_the_log_and_strangers_cannot(workspace: Workspace, teammate: User, stranger: User) -> None:
    make_entry(workspace, created_at=NOON - timedelta(days=1))

    for name in ("audit-log", "audit-log-csv"):
        assert Pages(workspace, teammate).get(name).status_code == 200
        assert Pages(workspace, stranger).get(name).status_code == 404
        assert Pages(workspace, None).get(name).status_code == 302


def test_the_number_of_queries_does_not_depend_on_the_number_of_actors(
    pages: Pages, workspace: Workspace, owner: User, teammate: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for person in (owner, teammate) * 20:
        make_entry(workspace, actor_type="user", actor_id=person.id)

    with django_assert_max_num_queries(10):
        page = pages.get("audit-log")
    assert "by Teammate" in words(page)
    assert len(page.content) < 60_000


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL reads a small table whole.")
@pytest.mark.parametrize(
    ("filters", "used"),
    [
        ({"operation": "a.one"}, "audit_operation (workspace_id=? AND operation=?)"),
        ({"actor_id": "agt_1"}, "audit_actor (workspace_id=? AND actor_id=?)"),
        ({"outcome": "refused"}, "audit_refused (workspace_id=?)"),
        ({"since": NOON, "before": NOON}, "audit_workspace (workspace_id=? AND id>? AND id<?)"),
    ],
)
def test_each_filter_has_its_index(workspace: Workspace, owner: User, filters: Any, used: str) -> None:
    rows = audit_entries_of_workspace(caller=Caller("user", owner.id), workspace_id=workspace.id, **filters)

    assert used in rows.explain()
