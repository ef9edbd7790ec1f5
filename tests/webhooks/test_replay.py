"""POST /webhooks/deliveries/{id}/replay: sending a delivery again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import time_machine

from auditlog.models import AuditEntry
from config.api.caller import AgentMode
from config.db.ids import new_id
from tests.conftest import ApiClient
from tests.factories import WorkspaceFactory
from tests.fakes.receiver import Receiver
from tests.webhooks.rows import NOON, as_user, make_delivery, with_agent_key, with_key
from tests.webhooks.sending import deliver_until_idle
from webhooks.models import Delivery, DeliveryStatus
from webhooks.sender import AttemptOutcome, DeliveryVerdict
from webhooks.services import deliveries
from workspaces.models import User, Workspace


def replay(client: ApiClient, delivery: Delivery, body: Any = None, **headers: str) -> Any:
    return client.post(f"/webhooks/deliveries/{delivery.id}/replay", body, **headers)


@pytest.fixture
def delivery(workspace: Workspace, receiver: Receiver) -> Delivery:
    """A successful delivery."""
    row = make_delivery(workspace, receiver.url)
    deliver_until_idle()
    row.refresh_from_db()
    return row


@pytest.fixture
def publisher(workspace: Workspace) -> ApiClient:
    return with_key(workspace, "posts.publish")


def test_a_replay_is_due_at_once_and_returns_the_delivery(delivery: Delivery, publisher: ApiClient) -> None:
    with time_machine.travel(NOON, tick=False):
        response = replay(publisher, delivery)

    assert response.status_code == 200
    assert response.json() == {
        "delivery": {
            "id": delivery.id,
            "event": "post.published",
            "status": "pending",
            "post_group_id": delivery.event.post_group_id,
            "trace_id": delivery.event.trace_id,
            "url": delivery.url,
            "attempts": 1,
            "last_status_code": 200,
            "last_error": None,
            "next_attempt_at": "2027-03-10T12:00:00Z",
            "created_at": delivery.created_at.isoformat().replace("+00:00", "Z"),
            "delivered_at": None,
        }
    }


def test_a_replay_sends_the_same_bytes_under_the_same_id_with_a_fresh_signature(
    delivery: Delivery, publisher: ApiClient, receiver: Receiver
) -> None:
    with time_machine.travel(NOON, tick=False):
        replay(publisher, delivery)
        deliver_until_idle()

    first, second = receiver.requests
    assert first.body == second.body
    assert first.headers["x-service-delivery-id"] == second.headers["x-service-delivery-id"] == delivery.id
    assert second.headers["x-service-signature"].startswith(f"t={int(NOON.timestamp())},v1=")
    delivery.refresh_from_db()
    assert (delivery.status, delivery.attempts) == (DeliveryStatus.DELIVERED, 2)


def test_a_replayed_dead_letter_gets_the_whole_retry_schedule(
    delivery: Delivery, publisher: ApiClient, receiver: Receiver
) -> None:
    Delivery.objects.update(status=DeliveryStatus.DEAD_LETTER, attempts=8, delivered_at=None)
    receiver.otherwise = 500
    with time_machine.travel(NOON, tick=False):
        replay(publisher, delivery)
        deliver_until_idle()

    delivery.refresh_from_db()
    assert (delivery.status, delivery.attempts) == (DeliveryStatus.RETRYING, 9)
    assert delivery.due_at
    assert 4 <= (delivery.due_at - NOON).total_seconds() <= 6


def test_a_delivery_that_waits_for_its_retry_can_be_replayed_now(
    workspace: Workspace, publisher: ApiClient, receiver: Receiver
) -> None:
    receiver.will_answer(500)
    waiting = make_delivery(workspace, receiver.url)
    deliver_until_idle()

    assert replay(publisher, waiting).json()["delivery"]["status"] == "pending"
    deliver_until_idle()

    waiting.refresh_from_db()
    assert waiting.status == DeliveryStatus.DELIVERED


def test_a_delivery_in_flight_cannot_be_replayed(workspace: Workspace, publisher: ApiClient, receiver: Receiver) -> None:
    delivery = make_delivery(workspace, receiver.url)
    deliveries.claim_deliveries(Delivery.objects.all(), limit=1)

    for body in ({}, {"dry_run": True}):
        response = replay(publisher, delivery, body)
        assert (response.status_code, response.json()["code"]) == (409, "INVALID_STATE")


def test_a_late_result_of_an_earlier_attempt_does_not_change_the_replay(
    workspace: Workspace, publisher: ApiClient, receiver: Receiver
) -> None:
    delivery = make_delivery(workspace, receiver.url)
    [stale] = deliveries.claim_deliveries(Delivery.objects.all(), limit=1)
    with time_machine.travel(NOON + timedelta(days=365), tick=False):
        replay(publisher, delivery)
        assert deliveries.record_outcomes_if_still_claimed([(stale, AttemptOutcome(DeliveryVerdict.DELIVERED, 200))]) == [
            False
        ]

    delivery.refresh_from_db()
    assert delivery.status == DeliveryStatus.PENDING


def test_one_idempotency_key_replays_once(delivery: Delivery, publisher: ApiClient, receiver: Receiver) -> None:
    first = replay(publisher, delivery, idempotency_key="one")
    deliver_until_idle()
    second = replay(publisher, delivery, idempotency_key="one")
    deliver_until_idle()

    assert second.headers["Idempotency-Replayed"] == "true"
    assert second.json() == first.json()
    assert len(receiver.requests) == 2


def test_a_dry_run_returns_a_preview_and_sends_nothing(delivery: Delivery, publisher: ApiClient, receiver: Receiver) -> None:
    response = replay(publisher, delivery, {"dry_run": True})
    deliver_until_idle()

    body = response.json()
    assert (response.status_code, body["dry_run"], body["operation"]) == (200, True, "webhooks.replay")
    assert (body["would_update"]["id"], body["would_update"]["status"]) == (delivery.id, "pending")
    assert len(receiver.requests) == 1
    assert AuditEntry.objects.get(operation="webhooks.replay").dry_run is True


def test_foreign_and_missing_deliveries_get_the_same_answer(delivery: Delivery, stranger: User) -> None:
    absent = Delivery(id=new_id("dlv"))
    odd = Delivery(id="dlv_odd")
    for client in (with_key(WorkspaceFactory.create(), "posts.publish"), as_user(stranger)):
        bodies = []
        for one in (delivery, absent, odd):
            response = replay(client, one)
            assert response.status_code == 404
            bodies.append({**response.json(), "trace_id": ""})
        assert bodies[0] == bodies[1] == bodies[2]


def test_a_replay_needs_its_scope(delivery: Delivery, workspace: Workspace) -> None:
    response = replay(with_key(workspace, "posts.read", "posts.schedule"), delivery)

    assert (response.status_code, response.json()["code"]) == (403, "SCOPE_MISSING")


def test_the_owner_may_replay(delivery: Delivery, workspace: Workspace) -> None:
    assert replay(as_user(workspace.owner_user), delivery).status_code == 200


@pytest.mark.parametrize("mode", [AgentMode.DRAFT, AgentMode.REQUIRES_CONFIRMATION])
def test_an_agent_that_may_not_publish_may_not_replay(delivery: Delivery, workspace: Workspace, mode: AgentMode) -> None:
    client = with_agent_key(workspace, mode, "posts.publish")

    for body in ({}, {"dry_run": True}):
        response = replay(client, delivery, body)
        assert (response.status_code, response.json()["code"]) == (403, "AGENT_MODE_FORBIDS")


def test_an_agent_in_dry_run_mode_gets_a_preview(delivery: Delivery, workspace: Workspace) -> None:
    client = with_agent_key(workspace, AgentMode.DRY_RUN, "posts.publish")

    response = replay(client, delivery)

    assert (response.status_code, response.json()["dry_run"]) == (200, True)
    delivery.refresh_from_db()
    assert delivery.status == DeliveryStatus.DELIVERED


def test_an_agent_that_may_publish_may_replay(delivery: Delivery, workspace: Workspace) -> None:
    client = with_agent_key(workspace, AgentMode.ALLOW_PUBLISH, "posts.publish")

    assert replay(client, delivery).status_code == 200


def test_a_replay_writes_an_audit_entry(delivery: Delivery, publisher: ApiClient, workspace: Workspace) -> None:
    replay(publisher, delivery)

    entry = AuditEntry.objects.get(operation="webhooks.replay")
    assert (entry.workspace_id, entry.resource_type, entry.resource_id) == (workspace.id, "webhook_delivery", delivery.id)
    assert entry.metadata == {"event": "post.published", "post_group_id": delivery.event.post_group_id}
