"""POST /accounts/connect by OAuth: the answer, and what is stored."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine

from accounts.models import ConnectedAccount, ConnectionAttempt
from auditlog.models import AuditEntry
from config.api.models import IdempotencyRecord
from tests.accounts.oauth_adapter import TinyPlatform
from tests.accounts.oauth_calls import Granted, begin, complete
from tests.accounts.test_connect_input import everything_stored
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.fakes.oauth_platform import CLIENT_ID, FakeOAuthPlatform
from tests.people import as_user
from workspaces.models import User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)


def test_the_answer_has_the_authorization_url(
    api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform, settings: Any
) -> None:
    settings.BASE_URL = "https://publish.example"
    with time_machine.travel(NOON, tick=False):
        answer = begin(api, workspace)

    body = answer.json()
    address = urlsplit(body["authorization_url"])
    asked = {name: values[-1] for name, values in parse_qs(address.query).items()}
    assert answer.status_code == 200
    assert set(body) == {"authorization_url", "state", "expires_at"}
    assert body["expires_at"] == "2027-03-10T12:10:00Z"
    assert f"{address.scheme}://{address.netloc}{address.path}" == f"{provider.url}/authorize"
    assert len(asked.pop("code_challenge")) == 43
    assert asked == {
        "response_type": "code",
        "client_id": CLIENT_ID,
        "redirect_uri": "https://publish.example/dashboard/connect/callback",
        "state": body["state"],
        "code_challenge_method": "S256",
    }
    assert len(body["state"]) >= 43
    assert not ConnectedAccount.objects.exists()


def test_each_state_is_new(api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform) -> None:
    assert len({begin(api, workspace).json()["state"] for _ in range(5)}) == 5


def test_state_url_and_verifier_appear_in_no_table(api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform) -> None:
    body = begin(api, workspace, idempotency_key="one").json()

    [attempt] = ConnectionAttempt.objects.all()
    assert attempt.stored is not None
    stored = everything_stored()
    assert attempt.id in stored
    for secret in (body["state"], body["authorization_url"], attempt.stored["verifier"]):
        assert secret not in stored


def test_beginning_a_connection_writes_an_audit_entry(
    api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform
) -> None:
    begin(api, workspace)

    entry = AuditEntry.objects.get()
    assert (entry.operation, entry.resource_type) == ("accounts.connect", "connection_attempt")
    assert (entry.resource_id, entry.metadata) == (ConnectionAttempt.objects.get().id, {"platform": "pinterest"})


def test_a_dry_run_checks_everything_and_begins_nothing(
    api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform, settings: Any
) -> None:
    answer = begin(api, workspace, dry_run=True, idempotency_key="one")

    body = answer.json()
    assert answer.status_code == 200
    assert (body["operation"], body["unchecked"]) == ("accounts.connect", ["authorization"])
    assert body["request"] == {"workspace_id": workspace.id, "platform": "pinterest", "method": "oauth"}
    assert (body["would_create"]["platform"], body["would_create"]["method"]) == ("pinterest", "oauth")
    assert not ConnectionAttempt.objects.exists()
    assert not IdempotencyRecord.objects.exists()

    settings.PLATFORM_SETTINGS = {}
    assert_envelope(begin(api, workspace, dry_run=True), 503, "CONNECTION_UNAVAILABLE")


def test_a_platform_without_an_application_is_refused_with_the_reason(
    api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform, settings: Any
) -> None:
    settings.PLATFORM_SETTINGS = {}

    body = assert_envelope(begin(api, workspace), 503, "CONNECTION_UNAVAILABLE")
    assert body["message"] == "The operator of this service has not set PINTEREST_CLIENT_ID."
    [connection] = [
        each
        for each in api.get("/capabilities").json()["account_connections"]
        if (each["provider"], each["method"]) == ("pinterest", "oauth")
    ]
    assert (connection["available"], connection["reason"]) == (False, body["message"])
    assert not ConnectionAttempt.objects.exists()


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"method": "credentials"}, ("method", "invalid")),
        ({"credentials": {"instance": "x.example"}}, ("credentials.instance", "unknown_field")),
        ({"platform": "bluesky"}, ("method", "invalid")),
    ],
)
def test_values_that_the_platform_does_not_need_are_refused(
    api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform, fields: dict[str, Any], fault: tuple[str, str]
) -> None:
    details = assert_envelope(begin(api, workspace, **fields), 422, "VALIDATION_FAILED")["details"]

    assert [(detail["field"], detail["code"]) for detail in details] == [fault]
    assert not ConnectionAttempt.objects.exists()


def test_values_that_the_platform_needs_are_published_and_checked(
    api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = {
        "type": "object",
        "properties": {"region": {"type": "string", "enum": ["eu"]}},
        "required": ["region"],
        "additionalProperties": False,
    }
    monkeypatch.setattr(TinyPlatform, "oauth_input_schema", schema)

    details = assert_envelope(begin(api, workspace), 422, "VALIDATION_FAILED")["details"]
    assert [(detail["field"], detail["code"]) for detail in details] == [("credentials.region", "required")]
    assert begin(api, workspace, credentials={"region": "eu"}).status_code == 200
    connections = {each["provider"]: each for each in api.get("/capabilities").json()["account_connections"]}
    assert connections["pinterest"]["credentials_schema"] == schema


def test_a_caller_without_permission_begins_nothing(
    workspace: Workspace, provider: FakeOAuthPlatform, teammate: User, stranger: User, key_with: Callable[..., ApiClient]
) -> None:
    assert_envelope(begin(key_with("accounts.read"), workspace), 403, "SCOPE_MISSING")
    assert_envelope(begin(as_user(teammate), workspace), 403, "FORBIDDEN")
    assert_envelope(begin(as_user(stranger), workspace), 422, "VALIDATION_FAILED")
    Workspace.objects.update(status="paused")
    assert_envelope(begin(key_with("accounts.write"), workspace), 403, "WORKSPACE_PAUSED")
    assert not ConnectionAttempt.objects.exists()


def test_a_repeat_with_its_idempotency_key_returns_the_same_connection(
    api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform
) -> None:
    first = begin(api, workspace, idempotency_key="one")
    again = begin(api, workspace, idempotency_key="one")

    assert (again["Idempotency-Replayed"], again.json()) == ("true", first.json())
    assert ConnectionAttempt.objects.count() == 1


@pytest.mark.parametrize("end", ["used", "run out"])
def test_a_repeat_has_no_url_once_the_state_is_used_or_expired(
    api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform, end: str
) -> None:
    with time_machine.travel(NOON) as clock:
        first = begin(api, workspace, idempotency_key="one").json()
        if end == "used":
            code = provider.grant(first["authorization_url"])
            assert complete(api, Granted(first["state"], code)).status_code == 200
        else:
            clock.shift(timedelta(minutes=10, seconds=1))
        again = begin(api, workspace, idempotency_key="one")

    assert again["Idempotency-Replayed"] == "true"
    assert again.json() == {"authorization_url": None, "state": None, "expires_at": first["expires_at"]}


def test_the_openapi_document_has_both_answers() -> None:
    described = ApiClient().get("/openapi.json").json()
    schemas = described["components"]["schemas"]
    answers = described["paths"]["/accounts/connect"]["post"]["responses"]["200"]["content"]["application/json"]

    [result, preview] = [each["$ref"].rpartition("/")[2] for each in answers["schema"]["oneOf"]]
    forms = [each["$ref"].rpartition("/")[2] for each in schemas[result]["oneOf"]]
    assert [set(schemas[form]["properties"]) for form in forms] == [{"account"}, {"authorization_url", "state", "expires_at"}]
    assert preview == "AccountConnectPreview"
