"""GET /ops/deliveries and POST /ops/deliveries/replay: many deliveries at once, for operators."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from config.db.ids import new_id
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.console.operators import operator_audit_entries
from tests.webhooks.rows import make_delivery
from webhooks.models import Delivery
from webhooks.services import replays
from workspaces.models import Workspace

URL = "https://receiver.example/hook"


def dead(workspace: Workspace, number: int = 1) -> list[Delivery]:
    rows = [make_delivery(workspace, URL) for _ in range(number)]
    Delivery.objects.filter(pk__in=[row.pk for row in rows]).update(status="dead_letter", due_at=None, attempts=8)
    return rows


def replay(operator: ApiClient, **body: Any) -> Any:
    return operator.post("/ops/deliveries/replay", body)


def statuses(rows: list[Delivery]) -> list[str]:
    return [Delivery.objects.values_list("status", flat=True).get(pk=row.pk) for row in rows]


def test_dead_letters_of_all_workspaces_are_listed_newest_first(operator: ApiClient, workspace: Workspace) -> None:
    other = factories.WorkspaceFactory.create()
    first, second = dead(workspace)[0], dead(other)[0]
    make_delivery(workspace, URL)
    page = operator.get("/ops/deliveries?limit=1").json()
    rest = operator.get(f"/ops/deliveries?limit=1&cursor={page['next_cursor']}").json()

    assert [(each["id"], each["workspace_id"]) for each in page["deliveries"] + rest["deliveries"]] == [
        (second.id, other.id),
        (first.id, workspace.id),
    ]
    assert len(operator.get(f"/ops/deliveries?workspace_id={workspace.id}").json()["deliveries"]) == 1
    assert len(operator.get("/ops/deliveries?status=pending").json()["deliveries"]) == 1


def test_replaying_a_workspaces_dead_letters_makes_them_due_and_restarts_their_schedule(
    operator: ApiClient, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "BATCH_SIZE", 2)
    mine, others = dead(workspace, 5), dead(factories.WorkspaceFactory.create())
    answer = replay(operator, workspace_id=workspace.id)

    assert answer.json() == {"replayed": 5, "in_flight": 0, "remaining": 0}
    assert (statuses(mine), statuses(others)) == (["pending"] * 5, ["dead_letter"])
    row = Delivery.objects.get(pk=mine[0].pk)
    assert (row.earlier_attempts, row.fence) == (8, 1)
    assert row.due_at is not None
    assert row.due_at <= timezone.now()
    assert {entry[0] for entry in operator_audit_entries("ops.replay_deliveries")} == {workspace.id}


def test_one_call_replays_a_limited_number_of_deliveries(
    operator: ApiClient, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "BATCH_SIZE", 2)
    monkeypatch.setattr(replays, "MAX_PER_CALL", 4)
    dead(workspace, 5)

    assert replay(operator, workspace_id=workspace.id, dry_run=True).json()["would_update"]["remaining"] == 1
    assert replay(operator, workspace_id=workspace.id).json() == {"replayed": 4, "in_flight": 0, "remaining": 1}
    assert replay(operator, workspace_id=workspace.id).json() == {"replayed": 1, "in_flight": 0, "remaining": 0}


def test_deliveries_are_replayed_by_id_in_any_status(operator: ApiClient, workspace: Workspace) -> None:
    delivered, busy = make_delivery(workspace, URL), make_delivery(workspace, URL)
    Delivery.objects.filter(pk=delivered.pk).update(status="delivered", due_at=None)
    Delivery.objects.filter(pk=busy.pk).update(lease_until=timezone.now() + timedelta(minutes=1))
    answer = replay(operator, ids=[delivered.id, busy.id, delivered.id])

    assert answer.json() == {"replayed": 1, "in_flight": 1, "remaining": 0}
    assert statuses([delivered]) == ["pending"]
    assert Delivery.objects.get(pk=busy.pk).fence == 0


def test_a_dry_run_replays_nothing(operator: ApiClient, workspace: Workspace) -> None:
    rows = dead(workspace, 2)
    result = replay(operator, workspace_id=workspace.id, dry_run=True).json()

    assert result["request"] == {"workspace_id": workspace.id}
    assert result["would_update"] == {"replayed": 2, "in_flight": 0, "remaining": 0}
    assert statuses(rows) == ["dead_letter"] * 2
    assert operator_audit_entries("ops.replay_deliveries") == [(workspace.id, "", True, None)]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, ""),
        ({"ids": [new_id("dlv")], "workspace_id": new_id("wrk")}, ""),
        ({"ids": []}, "ids"),
        ({"ids": [new_id("dlv")]}, "ids[0]"),
        ({"workspace_id": new_id("wrk")}, "workspace_id"),
    ],
)
def test_an_invalid_choice_of_deliveries_is_reported_at_its_field(
    operator: ApiClient, body: dict[str, Any], field: str
) -> None:
    details = assert_envelope(replay(operator, **body), 422, "VALIDATION_FAILED")["details"]

    assert [each["field"] for each in details] == [field]
    assert operator_audit_entries("ops.replay_deliveries") == [("", "", False, "VALIDATION_FAILED")]
