"""Operations preview by the code that they commit with: services make a plan, check it, and write it or nothing."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest
from django.conf import settings

from posts import services
from posts.operations import PLANNED_OPERATIONS
from posts.queue_views import QueueViewSet
from posts.views import PostViewSet
from tests.contract.routes import Route, described, routes

DOCUMENT = described()
ROUTES = [route for route in routes() if route.operation.preview]
PLANNED_ELSEWHERE = {"mark_workspace_deleted"}  # a part of other services, which make the plan
SERVICES = Path(services.__file__).parent
PREVIEWED = [
    function
    for name in services.__all__
    if "dry_run" in inspect.signature(function := getattr(services, name)).parameters and name != "commit_stored_plan"
]


WRITING = {"apply_fenced_updates", "bulk_create", "write_all_or_return_failed", "run_writes_reserving_money"}


def called_names(tree: ast.AST) -> set[str]:
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {called.id if isinstance(called, ast.Name) else getattr(called, "attr", "") for called in calls}


def functions_with_dry_run() -> list[tuple[str, ast.FunctionDef, dict[str, ast.FunctionDef]]]:
    """Return each public function of a service module that has a dry run, with all functions of its module by name."""
    paths = [*settings.BASE_DIR.glob("*/services/*.py"), settings.BASE_DIR / "config/console/retention_run.py"]
    found = []
    for path in paths:
        functions = {each.name: each for each in ast.parse(path.read_text()).body if isinstance(each, ast.FunctionDef)}
        for name, function in functions.items():
            arguments = {each.arg for each in function.args.args + function.args.kwonlyargs}
            if "dry_run" in arguments and not name.startswith(("_", "plan_")) and name not in PLANNED_ELSEWHERE:
                found.append((name, function, functions))
    return found


WITH_DRY_RUN = functions_with_dry_run()


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_every_operation_with_a_dry_run_documents_its_plan(route: Route) -> None:
    operation = DOCUMENT["paths"][route.path][route.method.lower()]
    [header] = [each for each in operation["parameters"] if each["name"] == "Plan-Hash"]
    assert route.operation.preview is not None
    preview = DOCUMENT["components"]["schemas"][route.operation.preview.__name__]

    assert (header["in"], header.get("required", False)) == ("header", False)
    assert header["schema"]["pattern"] == "^sha256:[0-9a-f]{64}$"
    assert "plan_hash" in preview["required"]
    assert "PLAN_CHANGED" in operation["responses"]["409"]["description"]


@pytest.mark.parametrize("function", [row[1:] for row in WITH_DRY_RUN], ids=[row[0] for row in WITH_DRY_RUN])
def test_a_service_checks_the_same_plan_in_the_dry_run_and_the_real_call(
    function: tuple[ast.FunctionDef, dict[str, ast.FunctionDef]],
) -> None:
    service, of_module = function
    helpers = [of_module[name] for name in called_names(service) & of_module.keys()]
    helpers += [of_module[name] for helper in helpers for name in called_names(helper) & of_module.keys()]

    assert any(
        called_names(each) & {"accept_plan", "plan_and_commit", "plan_and_commit_series"} for each in [service, *helpers]
    )
    for conditional in (node for each in [service, *helpers] for node in ast.walk(each) if isinstance(node, ast.If)):
        if any(isinstance(name, ast.Name) and name.id == "dry_run" for name in ast.walk(conditional.test)):
            assert "accept_plan" not in called_names(conditional)


def test_there_are_services_with_dry_runs() -> None:
    assert len(WITH_DRY_RUN) > 25


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
    views = [*vars(PostViewSet).values(), *vars(QueueViewSet).values()]
    declared = [each.operation for each in views if hasattr(each, "operation")]

    assert len(PREVIEWED) == 10
    # posts.resolve states a fact, so there is nothing to agree on beforehand.
    assert {each.name for each in declared if each.preview} == PLANNED_OPERATIONS.keys() - {"series.create"} | {
        "posts.resolve"
    }
