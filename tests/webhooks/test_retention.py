"""Events and deliveries are deleted after 30 days, sandbox ones after 3."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from tests.webhooks.rows import emit
from webhooks.models import Delivery, Event
from webhooks.retention import ExpiredEventsRule
from workspaces.models import Workspace

URL = "https://receiver.example/hook"


def event(workspace: Workspace, age: timedelta, *, finished: bool = True, **fields: Any) -> Event:
    made = emit(workspace, URL, at=timezone.now() - age, **fields)
    if finished:
        Delivery.objects.filter(event=made).update(status="delivered", due_at=None)
    return made


@pytest.mark.parametrize(("sandbox", "days"), [(False, 30), (True, 3)])
def test_an_event_is_deleted_with_its_deliveries(workspace: Workspace, sandbox: bool, days: int) -> None:
    event(workspace, timedelta(days=days, minutes=1), sandbox=sandbox)
    young = event(workspace, timedelta(days=days, minutes=-1), sandbox=sandbox)

    assert (ExpiredEventsRule().count(), ExpiredEventsRule().purge(10), ExpiredEventsRule().purge(10)) == (1, 1, 0)
    assert (Event.objects.get(), Delivery.objects.get().event_id) == (young, young.id)


def test_events_with_unfinished_deliveries_are_not_deleted(workspace: Workspace) -> None:
    late = event(workspace, timedelta(days=31), finished=False)

    assert (ExpiredEventsRule().count(), ExpiredEventsRule().purge(10)) == (0, 0)
    Delivery.objects.filter(event=late).update(status="dead_letter", due_at=None)
    assert ExpiredEventsRule().purge(10) == 1


def test_events_and_sandbox_events_are_deleted_in_batches(workspace: Workspace) -> None:
    for sandbox in (True, False, True):
        event(workspace, timedelta(days=40), sandbox=sandbox)

    assert [ExpiredEventsRule().purge(1) for _ in range(4)] == [1, 1, 1, 0]
