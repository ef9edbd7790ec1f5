"""Webhook events and their payloads."""

from __future__ import annotations

import json
from unittest.mock import ANY

import pytest
from django.db import IntegrityError
from pytest_django import DjangoAssertNumQueries

from config.jobs import wake_up
from tests.factories import WorkspaceFactory
from tests.statements import statements
from tests.webhooks.rows import NOON, emit
from webhooks import services
from webhooks.event_kinds import EventKind
from webhooks.models import Delivery, DeliveryStatus, Event
from workspaces.models import Workspace

URL = "http://127.0.0.1:9/hook"


def test_the_payload_is_compact_utf_8_json_of_the_contracts_fields(workspace: Workspace) -> None:
    event = emit(workspace, URL, post_group_id="pgr_1", sequence=3, at=NOON, data={"post_group": {"text": "Grüße 🎈"}})

    assert bytes(Event.objects.get(pk=event.pk).payload).decode() == (
        f'{{"id":"{event.id}","type":"post.published","created_at":"2027-03-10T12:00:00Z",'
        f'"workspace_id":"{workspace.id}","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","sandbox":false,"sequence":3,'
        '"data":{"post_group":{"text":"Grüße 🎈"}}}'
    )


def test_an_event_about_one_target_names_it(workspace: Workspace) -> None:
    event = emit(workspace, URL, kind=EventKind.TARGET_FAILED, target_id="tgt_1")

    assert json.loads(bytes(event.payload))["data"] == {"post_group": ANY, "target_id": "tgt_1"}


def test_half_of_a_surrogate_pair_in_a_text_does_not_stop_the_event(workspace: Workspace) -> None:
    event = emit(workspace, URL, data={"post_group": {"text": "\ud83c!"}})

    assert json.loads(bytes(event.payload))["data"] == {"post_group": {"text": "?!"}}


def test_an_event_with_a_url_has_one_pending_delivery_that_is_due_at_once(workspace: Workspace) -> None:
    event = emit(workspace, "https://hooks.example.com/a?b=c")

    delivery = Delivery.objects.get()
    assert (delivery.event_id, delivery.workspace_id, delivery.url) == (
        event.id,
        workspace.id,
        "https://hooks.example.com/a?b=c",
    )
    assert (delivery.host, delivery.status, delivery.attempts) == ("hooks.example.com:443", DeliveryStatus.PENDING, 0)
    assert delivery.due_at is not None


def test_an_event_without_a_url_is_stored_and_not_delivered(workspace: Workspace) -> None:
    emit(workspace, None)

    assert Event.objects.count() == 1
    assert not Delivery.objects.exists()


def test_a_url_that_is_no_longer_allowed_does_not_stop_the_event(workspace: Workspace) -> None:
    emit(workspace, "gopher://example.com")

    assert Delivery.objects.get().host == ""


def test_many_events_take_few_statements(workspace: Workspace, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    new = [
        services.NewEvent(
            workspace_id=workspace.id,
            kind=EventKind.SCHEDULED,
            post_group_id=f"pgr_{number}",
            sequence=1,
            trace_id="",
            sandbox=False,
            url=URL,
            data={},
        )
        for number in range(50)
    ]
    with django_assert_num_queries(statements(sqlite=2, postgresql=1)):
        services.store_events_with_deliveries(new)

    assert Delivery.objects.count() == 50


def test_a_group_has_each_sequence_number_once(workspace: Workspace) -> None:
    emit(workspace, URL, post_group_id="pgr_1", sequence=1)

    with pytest.raises(IntegrityError):
        emit(workspace, URL, post_group_id="pgr_1", sequence=1)


@pytest.mark.django_db(transaction=True)
def test_only_an_event_with_a_url_wakes_the_workers() -> None:
    rung: list[str] = []
    wake_up.set_worker_loop_wake_function("deliver", lambda: rung.append("deliver"))
    workspace = WorkspaceFactory.create()
    try:
        emit(workspace, None)
        assert rung == []
        emit(workspace, URL)
        assert rung == ["deliver"]
    finally:
        wake_up.set_worker_loop_wake_function("deliver", None)
