"""Every operation refuses unknown fields and unauthenticated callers."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from agents import tokens
from config.api.operation import SAFE_METHODS
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.contract.inputs import Ids, body_of, path_of, query_of
from tests.contract.routes import Route, routes
from tests.people import as_operator, as_user
from workspaces.models import User

ROUTES = routes()
UNKNOWN = {"code": "unknown_field", "message": "Unknown field."}
pytestmark = pytest.mark.usefixtures("operator")
every_route = pytest.mark.parametrize("route", ROUTES, ids=str)


def admitted(caller: ApiClient, route: Route) -> ApiClient:
    """Return the caller, or an operator for operator operations."""
    return as_operator() if route.operation.access.operator else caller


@pytest.mark.parametrize(
    "route", [route for route in ROUTES if route.method not in SAFE_METHODS and not route.operation.body.raw], ids=str
)
def test_an_unknown_field_of_the_body_is_refused(api: ApiClient, route: Route) -> None:
    answer = admitted(api, route).request(route.method, path_of(route, Ids()), {"surprise": 1})

    assert {"field": "surprise", **UNKNOWN} in assert_envelope(answer, 422, "VALIDATION_FAILED")["details"]


@every_route
def test_an_unknown_query_parameter_is_refused(api: ApiClient, route: Route) -> None:
    body = None if route.method in SAFE_METHODS else body_of(route, Ids())
    answer = admitted(api, route).request(route.method, path_of(route, Ids()) + "?surprise=1", body)

    assert {"field": "surprise", **UNKNOWN} in assert_envelope(answer, 422, "VALIDATION_FAILED")["details"]


@pytest.mark.parametrize("route", [route for route in ROUTES if not route.operation.access.public], ids=str)
def test_requests_without_a_token_are_refused(db: None, route: Route) -> None:
    for token in (None, "sps_key_" + "0" * 49, tokens.generate_token(tokens.WORKSPACE_KEY_PREFIX)):
        answer = ApiClient(token).request(route.method, path_of(route, Ids()), {"surprise": 1})

        assert_envelope(answer, 401, "UNAUTHENTICATED")
        assert answer["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("route", [route for route in ROUTES if route.parameters], ids=str)
def test_a_malformed_id_is_not_found(api: ApiClient, owner: User, route: Route) -> None:
    body = None if route.method in SAFE_METHODS else body_of(route, Ids())
    for value in ("nonsense", "%00", "%F0%9F%8E%88", "x" * 3000, "wrk_%2e%2e"):
        path = f"{route.at(dict.fromkeys(route.parameters, value))}?{urlencode(query_of(route, Ids()))}"
        for client in (admitted(api, route), admitted(as_user(owner), route)):
            assert_envelope(client.request(route.method, path, body), 404, "NOT_FOUND")
