"""Admin pages show deliveries and hide secrets."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from auditlog.services import record_entry
from config.api.caller import system_caller
from tests import factories
from tests.console.operators import act, console_audit_entries
from tests.people import console
from tests.webhooks.rows import emit, make_delivery
from webhooks.models import Delivery, SigningSecret
from workspaces.models import Workspace

URL = "https://receiver.example/hook"


@pytest.fixture
def operator(db: None) -> Client:
    return console()


def test_signing_secrets_are_never_shown(workspace: Workspace, operator: Client) -> None:
    secret = SigningSecret.objects.create(workspace=workspace, secret="whsec_shown_nowhere")

    for path in ("", f"{secret.pk}/change/"):
        page = operator.get(f"/admin/webhooks/signingsecret/{path}")
        assert page.status_code == 200
        assert b"whsec_" not in page.content


def test_deliveries_and_events_are_shown_and_cannot_be_changed(workspace: Workspace, operator: Client) -> None:
    delivery = make_delivery(workspace, "http://127.0.0.1:9/hook")

    for path in ("delivery/", f"delivery/{delivery.pk}/change/", "event/", f"event/{delivery.event_id}/change/"):
        assert operator.get(f"/admin/webhooks/{path}").status_code == 200
    assert operator.get("/admin/webhooks/delivery/add/").status_code == 403
    assert operator.post(f"/admin/webhooks/delivery/{delivery.pk}/change/", {"status": "delivered"}).status_code == 403


def dead(workspace: Workspace) -> Delivery:
    row = make_delivery(workspace, URL)
    row.mark_dead_letter_unsaved(timezone.now())
    row.save()
    return row


def statuses(*rows: Delivery) -> list[str]:
    return [Delivery.objects.values_list("status", flat=True).get(pk=row.pk) for row in rows]


def test_chosen_deliveries_are_replayed(workspace: Workspace, operator: Client) -> None:
    one, other = dead(workspace), dead(workspace)
    messages = act(operator, "replay", one)

    assert messages == ["Replayed: 1. Skipped because an attempt is in flight: 0."]
    assert statuses(one, other) == ["pending", "dead_letter"]
    assert console_audit_entries() == [("ops.replay_deliveries", workspace.id, "", None)]


def test_all_dead_letters_of_the_workspaces_are_replayed(workspace: Workspace, operator: Client) -> None:
    one, other, foreign = dead(workspace), dead(workspace), dead(factories.WorkspaceFactory.create())
    [message] = act(operator, "replay_all_dead_letters_of_workspaces", one)

    assert message.startswith(f"Replayed of {workspace.id}: 2.")
    assert statuses(one, other, foreign) == ["pending", "pending", "dead_letter"]


@pytest.mark.parametrize("status", ["pending", "dead_letter"])
def test_deliveries_are_listed_by_their_status(workspace: Workspace, operator: Client, status: str) -> None:
    rows = {"dead_letter": dead(workspace), "pending": make_delivery(workspace, URL)}
    page = operator.get("/admin/webhooks/delivery/", {"status": status})

    assert list(page.context["cl"].result_list) == [rows[status]]


def test_events_and_deliveries_are_found_by_their_group_and_its_trace(workspace: Workspace, operator: Client) -> None:
    delivery = make_delivery(workspace, URL)
    emit(workspace, URL, trace_id="0" * 31 + "1")
    caller, group = system_caller(workspace.id), str(delivery.event.post_group_id)
    entry = record_entry(caller=caller, operation="posts.create", resource_type="post_group", resource_id=group)

    for word in (group, entry.trace_id):
        for table, row in (("event", delivery.event), ("delivery", delivery)):
            page = operator.get(f"/admin/webhooks/{table}/", {"q": word})

            assert list(page.context["cl"].result_list) == [row]
