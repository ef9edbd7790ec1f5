"""Cursor pagination of lists (config/api/paging.py)."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Any

import pytest
from django.db.models import Q

from accounts.models import ConnectedAccount
from config.api.paging import paginate_newest_first, paginate_with_scan_limit
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from workspaces.models import Workspace

ACCOUNT = "acc_01m7wwe2x4e858rpvvxpep0enn"


def cursor_of(text: str) -> str:
    return urlsafe_b64encode(text.encode("latin-1")).decode().rstrip("=")


@pytest.fixture
def made(workspace: Workspace) -> list[str]:
    """Create five accounts and return their ids, newest first."""
    return [factories.AccountFactory.create(workspace=workspace).id for _ in range(5)][::-1]


def walk(api: ApiClient, workspace: Workspace, limit: int) -> list[list[str]]:
    """Return the ids of each page."""
    pages: list[list[str]] = []
    cursor = ""
    while len(pages) < 10:
        body = api.get(f"/accounts?workspace_id={workspace.id}&limit={limit}{cursor}").json()
        pages.append([account["id"] for account in body["accounts"]])
        if body["next_cursor"] is None:
            break
        cursor = f"&cursor={body['next_cursor']}"
    return pages


@pytest.mark.parametrize(("limit", "sizes"), [(1, [1] * 5), (2, [2, 2, 1]), (4, [4, 1]), (5, [5]), (200, [5])])
def test_pages_contain_each_row_once_newest_first(
    api: ApiClient, workspace: Workspace, made: list[str], limit: int, sizes: list[int]
) -> None:
    pages = walk(api, workspace, limit)

    assert [len(page) for page in pages] == sizes
    assert [each for page in pages for each in page] == made


def test_rows_created_or_deleted_meanwhile_do_not_shift_pages(workspace: Workspace, made: list[str]) -> None:
    rows = ConnectedAccount.objects.filter(workspace=workspace)
    first = paginate_newest_first(rows, limit=2)
    factories.AccountFactory.create(workspace=workspace)
    rows.filter(pk=made[1]).delete()  # the row that the cursor names

    assert [row.pk for row in paginate_newest_first(rows, limit=2, cursor=first.next_cursor).rows] == made[2:4]


@pytest.mark.parametrize(
    ("span", "found"), [(1, [[], [1], [], [], [4], []]), (2, [[1], [], [4]]), (4, [[1], [4]]), (9, [[1, 4]])]
)
def test_a_scan_reads_at_most_span_rows_for_each_page(
    workspace: Workspace, made: list[str], span: int, found: list[list[int]]
) -> None:
    rows, wanted = ConnectedAccount.objects.filter(workspace=workspace), Q(pk__in=[made[1], made[4]])
    pages = [paginate_with_scan_limit(rows, wanted=wanted, span=span, limit=2)]
    while cursor := pages[-1].next_cursor:
        pages.append(paginate_with_scan_limit(rows, wanted=wanted, span=span, limit=2, cursor=cursor))

    assert [[made.index(row.pk) for row in page.rows] for page in pages] == found


def test_matches_that_exceed_the_limit_are_on_the_next_page_of_the_scan(workspace: Workspace, made: list[str]) -> None:
    rows = ConnectedAccount.objects.filter(workspace=workspace)
    first = paginate_with_scan_limit(rows, wanted=Q(pk__in=made[:3]), span=4, limit=2)
    second = paginate_with_scan_limit(rows, wanted=Q(pk__in=made[:3]), span=4, limit=2, cursor=first.next_cursor)

    assert [[row.pk for row in page.rows] for page in (first, second)] == [made[:2], made[2:3]]


def test_an_empty_list_is_one_page(api: ApiClient, workspace: Workspace) -> None:
    answer = api.get(f"/accounts?workspace_id={workspace.id}")

    assert answer.json() == {"accounts": [], "next_cursor": None}


def test_a_page_is_one_query(workspace: Workspace, made: list[str], django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        paginate_newest_first(ConnectedAccount.objects.filter(workspace=workspace), limit=2)


@pytest.mark.parametrize("limit", ["0", "-1", "201", "1.5", "x", "", "9" * 20, "1e2", "%202", "２"])
def test_a_limit_outside_1_to_200_is_refused(api: ApiClient, workspace: Workspace, limit: str) -> None:
    answer = api.get(f"/accounts?workspace_id={workspace.id}&limit={limit}")

    assert assert_envelope(answer, 422, "VALIDATION_FAILED")["details"][0]["field"] == "limit"


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "nonsense",
        "ü",
        "=",
        "%00",
        ACCOUNT,
        cursor_of("1:"),
        cursor_of("1:\0"),
        cursor_of("1:" + ACCOUNT.replace("acc", "wrk")),
        cursor_of("1:\xff"),
        cursor_of("1:' OR 1=1 --"),
        cursor_of("2:" + ACCOUNT),
        cursor_of("1:" + ACCOUNT) + "=",
        cursor_of("1:" + ACCOUNT) + "A",
        cursor_of("1:" + "x" * 5000),
    ],
)
def test_an_invalid_cursor_is_refused(api: ApiClient, workspace: Workspace, cursor: str) -> None:
    answer = api.get(f"/accounts?workspace_id={workspace.id}&cursor={cursor}")

    assert assert_envelope(answer, 422, "VALIDATION_FAILED")["details"][0]["field"] == "cursor"
