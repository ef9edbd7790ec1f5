"""Retention of the processor's events and of customer ids of deleted workspaces."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from billing.models import ProcessorEvent, Subscription
from billing.retention import FinishedProcessorEventsRule, PurgedWorkspaceCustomersAndSubscriptionsRule
from tests import factories
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db


def purgeable(customer_id: str) -> Workspace:
    workspace = factories.WorkspaceFactory.create(processor_customer_id=customer_id, status="deleted")
    Workspace.objects.filter(pk=workspace.pk).update(updated_at=timezone.now() - timedelta(days=31))
    return workspace


def customer_of(workspace: Workspace) -> str:
    workspace.refresh_from_db()
    return workspace.processor_customer_id


def test_a_finished_event_is_deleted_after_ninety_days() -> None:
    old = timezone.now() - timedelta(days=91)
    for event_id, received_at, due_at in (
        ("evt_done", old, None),
        ("evt_waits", old, timezone.now()),
        ("evt_young", timezone.now() - timedelta(days=89), None),
    ):
        ProcessorEvent.objects.create(event_id=event_id, type="x", payload="{}", received_at=received_at, due_at=due_at)

    assert (FinishedProcessorEventsRule().count(), FinishedProcessorEventsRule().purge(10)) == (1, 1)
    assert set(ProcessorEvent.objects.values_list("event_id", flat=True)) == {"evt_waits", "evt_young"}


def test_a_customer_with_a_running_subscription_is_not_deleted(settings: Settings) -> None:
    settings.STRIPE_SECRET_KEY = "sk_test"
    ended, running, unknown = (purgeable(f"cus_{number}") for number in range(3))
    Subscription.objects.create(workspace_id=ended.pk, status="canceled", closed_at=timezone.now())
    Subscription.objects.create(workspace_id=running.pk, status="active")

    assert (
        PurgedWorkspaceCustomersAndSubscriptionsRule().count(),
        PurgedWorkspaceCustomersAndSubscriptionsRule().purge(10),
    ) == (3, 1)
    assert [customer_of(each) for each in (ended, running, unknown)] == ["", "cus_1", "cus_2"]
    assert not Subscription.objects.filter(pk=ended.pk).exists()


def test_without_a_processor_only_running_subscriptions_block_the_deletion() -> None:
    running, nothing = purgeable("cus_1"), purgeable("cus_2")
    Subscription.objects.create(workspace_id=running.pk, status="past_due")

    assert PurgedWorkspaceCustomersAndSubscriptionsRule().purge(10) == 1
    assert [customer_of(each) for each in (running, nothing)] == ["cus_1", ""]
