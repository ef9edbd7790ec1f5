"""Operations on posts preview by the code that they commit with: one function makes the plan, and one commits it."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

from posts import services
from posts.operations import PLANNED_OPERATIONS
from posts.views import PostViewSet

SERVICES = Path(services.__file__).parent
PREVIEWED = [
    function
    for name in services.__all__
    if "dry_run" in inspect.signature(function := getattr(services, name)).parameters and name != "commit_plan"
]


WRITING = {"update_rows", "bulk_create", "write_together", "write_with_counters"}


def called_names(tree: ast.AST) -> set[str]:
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {called.id if isinstance(called, ast.Name) else getattr(called, "attr", "") for called in calls}


@pytest.mark.parametrize("service", PREVIEWED, ids=lambda service: service.__name__)
def test_a_service_that_can_be_previewed_only_plans_and_commits(service: object) -> None:
    calls = called_names(ast.parse(inspect.getsource(service)))  # type: ignore[arg-type]

    assert "plan_and_commit" in calls
    assert not calls & {"save", "update", "delete", "bulk_create", "atomic"}


def test_only_the_commit_writes_posts() -> None:
    """The other services may read, but whatever they write goes through a plan."""
    writing = {
        path.name: found
        for path in SERVICES.glob("*.py")
        if path.name != "commit.py"
        if (found := called_names(ast.parse(path.read_text())) & WRITING)
    }

    assert writing == {}


def test_every_operation_on_posts_with_a_dry_run_can_be_planned() -> None:
    declared = [each.operation for each in vars(PostViewSet).values() if hasattr(each, "operation")]

    assert len(PREVIEWED) == 8
    # posts.resolve states a fact, so there is nothing to agree on beforehand.
    assert {each.name for each in declared if each.preview} == {*PLANNED_OPERATIONS, "posts.resolve"}
