"""POST /accounts/connect: its input, its dry run, and that secrets are not shown or logged."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from config.api.models import IdempotencyRecord
from tests.accounts.conftest import APP_PASSWORD, HANDLE
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.fakes.bluesky import FakeBluesky
from tests.plan_hashes import ANY_PLAN_HASH
from workspaces.models import Workspace

Connect = Callable[..., Any]
CANARY = "canary-canary-canary"


@pytest.mark.parametrize(
    ("fields", "faults"),
    [
        ({"platform": "friendster"}, [("platform", "unknown_platform")]),
        ({"platform": 1}, [("platform", "wrong_type")]),
        ({"method": "oauth"}, [("method", "invalid")]),
        ({"method": "magic"}, [("method", "invalid_choice")]),
        ({"credentials": CANARY}, [("credentials", "wrong_type")]),
        ({"credentials": {}}, [("credentials.identifier", "required"), ("credentials.app_password", "required")]),
        ({"credentials": {"identifier": CANARY}}, [("credentials.app_password", "required")]),
        ({"credentials": {"app_password": CANARY}}, [("credentials.identifier", "required")]),
        ({"credentials": {"identifier": 7, "app_password": CANARY}}, [("credentials.identifier", "type")]),
        ({"credentials": {"identifier": CANARY, "app_password": ""}}, [("credentials.app_password", "minLength")]),
        ({"credentials": {"identifier": CANARY, "app_password": CANARY * 13}}, [("credentials.app_password", "maxLength")]),
        (
            {"credentials": {"identifier": CANARY, "app_password": CANARY, "password": CANARY, "pin": CANARY}},
            [("credentials.password", "unknown_field"), ("credentials.pin", "unknown_field")],
        ),
        ({"password": CANARY}, [("password", "unknown_field")]),
    ],
)
def test_invalid_credentials_are_named_by_field_without_their_values(
    api: ApiClient, connect: Connect, pds: FakeBluesky, fields: dict[str, Any], faults: list[tuple[str, str]]
) -> None:
    for dry_run in (False, True):
        answer = connect(api, dry_run=dry_run, **fields)
        details = assert_envelope(answer, 422, "VALIDATION_FAILED")["details"]
        assert [(detail["field"], detail["code"]) for detail in details] == faults
        assert CANARY not in answer.content.decode()
    assert pds.requests == ()
    assert not ConnectedAccount.objects.exists()


def test_missing_credentials_are_required(api: ApiClient, workspace: Workspace) -> None:
    answer = api.post("/accounts/connect", {"workspace_id": workspace.id, "platform": "bluesky"})

    details = assert_envelope(answer, 422, "VALIDATION_FAILED")["details"]
    assert [detail["field"] for detail in details] == ["credentials.identifier", "credentials.app_password"]


def test_a_dry_run_checks_the_input_without_calling_the_platform(
    api: ApiClient, connect: Connect, pds: FakeBluesky, workspace: Workspace
) -> None:
    answer = connect(api, dry_run=True, idempotency_key="one")

    body = answer.json()
    shown = body.pop("would_create")
    assert answer.status_code == 200
    assert body == {
        "dry_run": True,
        "plan_hash": ANY_PLAN_HASH,
        "operation": "accounts.connect",
        "request": {"workspace_id": workspace.id, "platform": "bluesky"},
        "unchecked": ["credentials"],
    }
    assert (shown["workspace_id"], shown["platform"], shown["method"]) == (workspace.id, "bluesky", "credentials")
    assert (shown["status"], shown["sandbox"]) == ("active", False)
    assert "id" not in shown
    assert shown["updated_at"] == shown["created_at"]
    assert APP_PASSWORD not in answer.content.decode()
    assert pds.requests == ()
    assert not ConnectedAccount.objects.exists()
    assert not IdempotencyRecord.objects.exists()


def test_secrets_appear_in_no_table_no_answer_and_no_log(
    api: ApiClient, connect: Connect, pds: FakeBluesky, workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    said = [connect(api, idempotency_key="one"), connect(api, idempotency_key="one")]
    account = ConnectedAccount.objects.get()
    first = account.decrypted_grant().tokens
    pds.expire_access_tokens()
    said += [api.get(f"/accounts/{account.id}/status"), api.get(f"/accounts?workspace_id={workspace.id}")]
    account.refresh_from_db()
    second = account.decrypted_grant().tokens
    secrets = [APP_PASSWORD, *(tokens[kind] for tokens in (first, second) for kind in ("access", "refresh"))]
    in_tables = everything_stored()
    said.append(api.delete(f"/accounts/{account.id}"))

    assert account.credentials == {"identifier": HANDLE, "app_password": APP_PASSWORD, "service": pds.url}
    assert [answer.status_code for answer in said] == [200] * 5
    assert len(set(secrets)) == 5
    assert account.id in in_tables
    assert AuditEntry.objects.count() == 2
    written = "".join(answer.content.decode() for answer in said) + caplog.text
    for secret in secrets:
        assert secret not in in_tables
        assert secret not in written


def everything_stored() -> str:
    """Return every row of every table as text, as the database stores it."""
    with connection.cursor() as cursor:
        rows = []
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608
            rows += cursor.fetchall()
    return str(rows)
