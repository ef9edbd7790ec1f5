"""The declared and documented operations match the hand-written table."""

from __future__ import annotations

import pytest

from tests.contract.operations import OPERATIONS, Row
from tests.contract.routes import Route, described, routes

DOCUMENT = described()
PLAIN = {("GET", "/openapi.json")}  # a plain view, no declared operation
ROWS = {(row.method, row.path): row for row in OPERATIONS}
ROUTES = {(route.method, route.path): route for route in routes()}
every_row = pytest.mark.parametrize("row", OPERATIONS, ids=[row.name for row in OPERATIONS])


def declared(route: Route) -> Row:
    """Return an operation's declaration as a row of the table."""
    operation = route.operation
    scopes = operation.access.scope or ()
    return Row(
        route.method,
        route.path,
        operation.name,
        tuple(scopes) if isinstance(scopes, tuple) else (scopes,),
        operation.idempotency.mode or "",
        max(operation.responses),
        operation.preview is not None,
        operation.access.operator,
    )


def test_every_operation_is_in_the_table_once() -> None:
    assert len(ROWS) == len({row.name for row in OPERATIONS}) == len(OPERATIONS)


def test_every_route_has_a_row_and_every_row_a_route() -> None:
    assert ROUTES.keys() - ROWS.keys() == set()
    assert ROWS.keys() - ROUTES.keys() == PLAIN


def test_every_documented_operation_has_a_row_and_every_row_is_documented() -> None:
    found = {(method.upper(), path) for path, methods in DOCUMENT["paths"].items() for method in methods}

    assert found - ROWS.keys() == set()
    assert ROWS.keys() - found == set()


@pytest.mark.parametrize("route", ROUTES.values(), ids=str)
def test_a_route_declares_what_its_row_says(route: Route) -> None:
    assert declared(route) == ROWS[route.method, route.path]


@every_row
def test_the_document_says_what_the_row_says(row: Row) -> None:
    operation = DOCUMENT["paths"][row.path][row.method.lower()]
    parameters = {(each["in"], each["name"]) for each in operation.get("parameters", [])}

    assert operation["operationId"] == row.name.replace(".", "_")
    assert {name for one in operation["security"] for name in one} <= {"adminToken" if row.operator else "bearerAuth"}
    assert tuple(scope for one in operation["security"] for scopes in one.values() for scope in scopes) == row.scopes
    assert (("header", "Idempotency-Key") in parameters) == bool(row.idempotent)
    assert (("query", "dry_run") in parameters) == row.dry_run
    assert str(row.success) in operation["responses"]
    # A preview and the replay of a key that was made are 200; nothing else succeeds in another way.
    assert {status for status in operation["responses"] if status[0] == "2"} <= {str(row.success), "200"}
