"""Queries of the posts that need a person use the index of these posts, however many others a workspace has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from config.api.caller import system_caller
from posts.models import PostGroup
from posts.navigation import count_posts_awaiting_approval_up_to_max
from posts.selectors import posts_awaiting_approval, search_posts
from workspaces.models import Workspace


@pytest.mark.skipif(connection.vendor != "sqlite", reason="tests/bench/test_scale.py reads the plans of PostgreSQL")
@pytest.mark.parametrize(
    "read",
    [
        lambda workspace_id, _: count_posts_awaiting_approval_up_to_max(workspace_id),
        lambda workspace_id, caller: posts_awaiting_approval(caller=caller, workspace_id=workspace_id, limit=10),
        lambda workspace_id, caller: search_posts(caller=caller, workspace_id=workspace_id, status="failed", limit=10),
    ],
    ids=["count of approvals", "approvals", "search by status"],
)
def test_sqlite_finds_posts_that_need_a_person_by_their_index(workspace: Workspace, read: Callable[[str, Any], Any]) -> None:
    plans = []

    def explain(execute: Any, sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        plans.append(execute(f"EXPLAIN QUERY PLAN {sql}", params, many, context).fetchall())
        return execute(sql, params, many, context)

    with connection.execute_wrapper(explain):
        read(workspace.id, system_caller(workspace.id))

    of_groups = [str(plan) for plan in plans if PostGroup._meta.db_table in str(plan)]
    assert of_groups
    assert all("group_attention" in plan for plan in of_groups)
