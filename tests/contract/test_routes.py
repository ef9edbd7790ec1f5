"""Routes, declarations and the OpenAPI document agree."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from tests.contract.routes import Route, described, handlers, request_schemas, routes

ROUTES = routes()
DOCUMENT = described()
PLAIN = {("GET", "/openapi.json")}  # documented, though no operation of a view set
WITHOUT_PREVIEW = {"agents.claim", "plans.create"}  # a plan is a preview itself
# The names of the write operations in the public specification.
SPECIFIED_WRITES = {
    *("workspaces.create", "workspaces.update_caps", "workspaces.delete", "workspaces.rotate_signing_secret"),
    *("users.delete", "agents.create", "agents.update", "agents.revoke", "agents.rotate_key", "agents.claim"),
    *("api_keys.create", "api_keys.revoke"),
    *("accounts.connect", "accounts.disconnect", "accounts.complete_connection", "accounts.update_slots"),
    *("posts.create", "posts.create_batch", "posts.update", "posts.cancel", "posts.retry"),
    *("posts.update_queue", "posts.retry_missed"),  # not in it, but named as it names others
    *("plans.create", "plans.commit"),
    *("calendar_feeds.create", "calendar_feeds.delete"),
    *("series.create", "series.update", "series.delete", "series.skip"),
    *("posts.confirm", "posts.reject", "posts.resolve", "media.upload", "media.delete", "webhooks.replay"),
    *("billing.create_checkout_session", "billing.create_portal_session"),
    # Section 10 gives operators' operations paths alone.
    *("ops.pause_workspace", "ops.resume_workspace", "ops.replay_deliveries", "ops.run_retention"),
    *("ops.reconcile_billing", "ops.revoke_key"),
}


def shapes(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the object schemas that a body may match."""
    named = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return [shape for each in named["oneOf"] for shape in shapes(each)] if "oneOf" in named else [named]


def test_every_route_declares_its_operation() -> None:
    undeclared = [f"{method} {path}" for method, path, handler in handlers() if not hasattr(handler, "operation")]

    assert undeclared == []
    assert len(ROUTES) > 20


def test_a_name_belongs_to_one_operation() -> None:
    assert [name for name, times in Counter(route.operation.name for route in ROUTES).items() if times > 1] == []
    assert [route.operation.name for route in ROUTES if not re.fullmatch("[a-z_]+[.][a-z_]+", str(route))] == []


def test_names_of_writing_operations_match_the_contract() -> None:
    assert {route.operation.name for route in ROUTES if route.writes} - SPECIFIED_WRITES == set()


def test_the_document_contains_exactly_the_declared_operations() -> None:
    documented = {
        (method.upper(), path, operation["operationId"])
        for path, methods in DOCUMENT["paths"].items()
        for method, operation in methods.items()
        if (method.upper(), path) not in PLAIN
    }

    assert documented == {(route.method, route.path, str(route).replace(".", "_")) for route in ROUTES}


@pytest.mark.parametrize("route", [route for route in ROUTES if route.writes], ids=str)
def test_every_write_can_be_previewed(route: Route) -> None:
    if route.operation.name in WITHOUT_PREVIEW:
        assert route.operation.preview is None
        return
    operation = DOCUMENT["paths"][route.path][route.method.lower()]

    assert "dry_run" in [each["name"] for each in operation["parameters"] if each["in"] == "query"]
    for schema in request_schemas(operation):
        for body in shapes(schema):
            assert body["properties"]["dry_run"]["type"] == "boolean"
    assert set(map(str, [*route.operation.responses, route.operation.preview_status])) <= set(operation["responses"])
