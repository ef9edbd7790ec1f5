"""What the payment processor tells: its events as they arrived, and each workspace's subscription as it stands there."""

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
    """An event of the payment processor as it arrived, kept once by its own id.

    `processed_at` is null until it had its effect; `due_at` is when that is tried (next), null once it will not be any more.
    """

    class Outcome(models.TextChoices):
        WAITING = ""
        APPLIED = "applied"
        IGNORED = "ignored"  # of a kind without effect, or about nobody that the service knows
        GIVEN_UP = "given_up"  # the nightly reconciliation sees to it

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
    """A workspace's subscription as the processor told last; `status` is the processor's word, "" when it has none.

    Written by events and by the reconciliation alone. `version` rises with every write: who asked the processor before
    another wrote must ask again. `told_at` and `told_rank` order the events whose own copies were believed.
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
    # For a workspace that was deleted: when its end was last tried, and when nothing of it ran any more.
    end_tried_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.workspace_id} {self.plan} {self.status}"

    @property
    def is_running(self) -> bool:
        return self.status in entitlement.RUNNING

    def entitles(self, now: datetime) -> bool:
        """Whether it pays for what goes beyond the free credit at this time."""
        return entitlement.entitles(self.status, self.status_since, now)
