"""Models of the payment processor's events and of each workspace's subscription."""

from __future__ import annotations

from datetime import datetime

from django.db import models
from django.db.models import Q
from django.utils import timezone

from billing import entitlement
from billing.plans import PLANS
from config.db import ids
from config.db.models import DueRow, TimestampedModel


class ProcessorEvent(DueRow):
    """An event of the payment processor as received, stored once for each event id.

    `processed_at` is null until the event is processed; `due_at` is the next attempt, null if there will be none.
    """

    class Outcome(models.TextChoices):
        WAITING = ""
        APPLIED = "applied"
        IGNORED = "ignored"  # of a type without effect, or about an unknown customer
        GIVEN_UP = "given_up"  # left to the nightly reconciliation

    event_id = models.CharField(max_length=255, primary_key=True)
    type = models.CharField(max_length=255)
    payload = models.TextField()
    received_at = models.DateTimeField(default=timezone.now, editable=False)
    processed_at = models.DateTimeField(null=True, editable=False)
    attempts = models.PositiveIntegerField(default=0, editable=False)
    outcome = models.CharField(max_length=10, choices=Outcome.choices, blank=True, editable=False)

    class Meta:
        indexes = [
            models.Index(fields=["due_at", "event_id"], condition=Q(due_at__isnull=False), name="processor_event_due")
        ]

    def __str__(self) -> str:
        return f"{self.type} ({self.event_id})"


class Subscription(TimestampedModel):
    """A workspace's subscription as last received from the processor; `status` is the processor's, "" without a subscription.

    Only events and the reconciliation write it. Each write raises `version`, so that an answer that the processor gave before
    another write is not saved. `told_at` and `told_rank` are time and rank of the last event whose copy was applied.
    """

    workspace_id = models.CharField(max_length=ids.LENGTH, primary_key=True)
    customer_id = models.CharField(max_length=255, blank=True)
    subscription_id = models.CharField(max_length=255, blank=True)
    metered_item_id = models.CharField(max_length=255, blank=True)
    plan = models.CharField(max_length=8, blank=True, choices=[(plan, plan) for plan in PLANS])
    status = models.CharField(max_length=32, blank=True)
    status_since = models.DateTimeField(null=True)
    began_at = models.DateTimeField(null=True)
    current_period_end = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    told_at = models.DateTimeField(null=True)
    told_rank = models.PositiveSmallIntegerField(default=0)
    version = models.PositiveIntegerField(default=0)
    # For a deleted workspace: the last attempt to cancel its subscriptions, and when none was running any more.
    end_tried_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.workspace_id} {self.plan} {self.status}"

    @property
    def is_running(self) -> bool:
        return self.status in entitlement.RUNNING_STATUSES

    def entitles(self, now: datetime) -> bool:
        """Return whether the subscription pays for usage beyond the free credit at `now`."""
        return entitlement.entitles(self.status, self.status_since, now)
