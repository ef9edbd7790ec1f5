"""/ops and /metrics accept only ADMIN_TOKEN, and no other path accepts it."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from auditlog.models import AuditEntry
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.contract.inputs import Ids, body_of, path_of
from tests.contract.routes import Route, routes
from tests.people import as_user
from workspaces.models import User, Workspace

OPERATORS = [route for route in routes() if route.operation.access.operator]
every_route = pytest.mark.parametrize("route", OPERATORS, ids=str)


@every_route
def test_without_admin_token_every_ops_path_is_404(db: None, settings: Settings, route: Route) -> None:
    settings.ADMIN_TOKEN = ""
    for bearer in (None, "", "anything"):
        answer = ApiClient(bearer).request(route.method, path_of(route, Ids()))

        assert assert_envelope(answer, 404, "NOT_FOUND")["message"] == unknown_path()["message"]


def unknown_path() -> dict[str, str]:
    return dict(ApiClient().get("/nothing/here").json())


@every_route
def test_api_keys_and_sessions_are_refused(
    operator: ApiClient, api: ApiClient, owner: User, agent_client: ApiClient, route: Route
) -> None:
    wrong = ApiClient(f"{operator.token}x")
    for caller in (ApiClient(), wrong, api, as_user(owner), agent_client()):  # type: ignore[operator]
        answer = caller.request(route.method, path_of(route, Ids()), body_of(route, Ids()))

        assert_envelope(answer, 401, "UNAUTHENTICATED")
        assert answer["www-authenticate"] == "Bearer"
    assert not AuditEntry.objects.filter(via="operator").exists()


def test_the_admin_token_is_refused_by_the_api(operator: ApiClient, workspace: Workspace) -> None:
    for path in (f"/agents?workspace_id={workspace.id}", "/capabilities", f"/logs?workspace_id={workspace.id}"):
        assert_envelope(operator.get(path), 401, "UNAUTHENTICATED")


@pytest.mark.parametrize("scheme", ["Basic", "Token", ""])
def test_the_scheme_is_bearer(operator: ApiClient, scheme: str) -> None:
    answer = ApiClient().get("/ops/status", authorization=f"{scheme} {operator.token}".strip())

    assert_envelope(answer, 401, "UNAUTHENTICATED")


def test_operators_have_a_higher_rate_limit(operator: ApiClient) -> None:
    assert operator.get("/ops/status")["RateLimit-Limit"] == "600"


def test_metrics_require_the_same_token(operator: ApiClient, api: ApiClient, settings: Settings) -> None:
    assert operator.get("/metrics").status_code == 200
    assert_envelope(api.get("/metrics"), 401, "UNAUTHENTICATED")
    assert_envelope(ApiClient().get("/metrics"), 401, "UNAUTHENTICATED")
    settings.ADMIN_TOKEN = ""
    assert_envelope(operator.get("/metrics"), 404, "NOT_FOUND")
