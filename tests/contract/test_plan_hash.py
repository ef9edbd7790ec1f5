"""Every operation with a dry run shows the hash of its plan, and with Plan-Hash does exactly that plan or nothing."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from pytest_django import Settings

from auditlog.models import AuditEntry
from config.api.models import IdempotencyRecord
from tests import factories
from tests.accounts.conftest import pds, provider
from tests.billing.conftest import processor
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.contract.operations import OPERATIONS
from tests.contract.plan_calls import CALLS, PlannedCall, World
from tests.plan_hashes import ANY_PLAN_HASH, OTHER_HASH
from tests.posts.conftest import clock
from workspaces.models import Workspace

__all__ = ["clock", "pds", "processor", "provider"]  # fixtures

ROWS = {row.name: row for row in OPERATIONS if row.dry_run}
every_operation = pytest.mark.parametrize("name", ROWS)
NOT_COMPARED = (AuditEntry, IdempotencyRecord)


def stored_rows() -> dict[str, list[Any]]:
    """Return all rows of the database, but not those that refused requests leave, nor when keys were used last."""
    return {
        model._meta.label: [
            {name: value for name, value in row.items() if name not in ("last_used_at", "seen_networks")}
            for row in model._base_manager.order_by("pk").values()
        ]
        for model in apps.get_models()
        if model not in NOT_COMPARED
    }


@pytest.fixture
def call(
    name: str,
    workspace: Workspace,
    operator: ApiClient,
    clock: Any,
    settings: Settings,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> PlannedCall:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    settings.MEDIA_ROOT = tmp_path
    return CALLS[name](World(workspace, request))


def test_there_is_a_call_of_every_operation_with_a_dry_run() -> None:
    assert CALLS.keys() == ROWS.keys()


@every_operation
def test_the_previewed_plan_is_carried_out_and_no_other(name: str, call: PlannedCall, clock: Any) -> None:
    previewed = call.send(dry_run=True)
    clock.shift(30)
    again = call.send(dry_run=True)

    assert previewed.status_code < 300, previewed.content
    plan_hash = previewed.json()["plan_hash"]
    assert plan_hash == again.json()["plan_hash"] == ANY_PLAN_HASH

    before = stored_rows()
    for dry_run in (True, False):
        assert_envelope(call.send(dry_run=dry_run, plan_hash=OTHER_HASH), 409, "PLAN_CHANGED")
        malformed = assert_envelope(call.send(dry_run=dry_run, plan_hash="md5:1"), 422, "VALIDATION_FAILED")
        assert [each["field"] for each in malformed["details"]] == ["Plan-Hash"]
    assert stored_rows() == before
    assert call.send(dry_run=True, plan_hash=plan_hash).status_code == previewed.status_code
    assert stored_rows() == before

    done = call.send(plan_hash=plan_hash)
    assert done.status_code == ROWS[name].success, done.content


@pytest.mark.parametrize("name", [row.name for row in ROWS.values() if row.idempotent])
def test_a_replay_answers_without_the_plan(name: str, call: PlannedCall) -> None:
    plan_hash = call.send(dry_run=True).json()["plan_hash"]
    refused = call.send(plan_hash=OTHER_HASH, idempotency_key="k")
    assert_envelope(refused, 409, "PLAN_CHANGED")

    assert call.send(plan_hash=plan_hash, idempotency_key="k").status_code == ROWS[name].success
    for other in (OTHER_HASH, "md5:1"):
        assert call.send(plan_hash=other, idempotency_key="k")["Idempotency-Replayed"] == "true"


def test_a_changed_resource_has_another_plan(api: ApiClient, workspace: Workspace) -> None:
    agent = factories.AgentFactory.create(workspace=workspace)
    secret = f"/workspaces/{workspace.id}/webhook-signing-secret/rotate"
    calls = [
        PlannedCall(api, "DELETE", f"/agents/{agent.id}"),
        PlannedCall(api, "POST", f"/agents/{agent.id}/rotate-key"),
        PlannedCall(api, "POST", secret),
        PlannedCall(api, "DELETE", f"/workspaces/{workspace.id}"),
    ]
    hashes = [call.send(dry_run=True).json()["plan_hash"] for call in calls]

    assert api.request("PATCH", f"/agents/{agent.id}", {"name": "Other"}).status_code == 200
    assert api.post(f"/agents/{agent.id}/rotate-key").status_code == 200
    assert api.post(secret).status_code == 200
    assert api.request("PATCH", f"/workspaces/{workspace.id}", {"monthly_spend_cap_cents": 7}).status_code == 200

    for call, plan_hash in zip(calls, hashes, strict=True):
        assert_envelope(call.send(plan_hash=plan_hash), 409, "PLAN_CHANGED")


@pytest.mark.parametrize("name", ["accounts.connect"])
def test_credentials_are_no_part_of_a_plan(name: str, call: PlannedCall) -> None:
    assert call.body is not None
    guessed = {**call.body, "credentials": {**call.body["credentials"], "app_password": "wxyz-wxyz-wxyz-wxyz"}}
    other = dataclasses.replace(call, body=guessed)

    assert other.send(dry_run=True).json()["plan_hash"] == call.send(dry_run=True).json()["plan_hash"]
