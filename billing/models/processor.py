"""Models of billing at the payment processor: its events, subscriptions, and reports of usage to it."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from billing.processor_json import PAST_DUE, PAYING_STATUSES, RUNNING_STATUSES
from billing.subscription_plans import SUBSCRIPTION_PLANS
from config.db import ids
from config.db.models import DueRow, TimestampedModel


class ProcessorEvent(DueRow):
    """The model of an event that the payment processor sent, stored as received. An event that is sent twice is stored once.

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
        indexes = [models.Index(fields=["due_at", "event_id"], condition=Q(due_at__isnull=False), name="processor_event_due")]

    def __str__(self) -> str:
        return f"{self.type} ({self.event_id})"


class Subscription(TimestampedModel):
    """The model of a workspace's subscription at the payment processor. The status is "" if there is no subscription.

    Only events and the reconciliation write it. Each write raises `version`, so that an answer that the processor gave before
    another write is not saved. `last_event_at` and `last_event_rank` belong to the last event whose copy was applied.
    """

    workspace_id = models.CharField(max_length=ids.ID_LENGTH, primary_key=True)
    customer_id = models.CharField(max_length=255, blank=True)
    subscription_id = models.CharField(max_length=255, blank=True)
    metered_item_id = models.CharField(max_length=255, blank=True)
    plan = models.CharField(max_length=8, blank=True, choices=[(plan, plan) for plan in SUBSCRIPTION_PLANS])
    status = models.CharField(max_length=32, blank=True)
    status_since = models.DateTimeField(null=True)
    began_at = models.DateTimeField(null=True)
    current_period_end = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    last_event_at = models.DateTimeField(null=True, db_column="told_at")
    last_event_rank = models.PositiveSmallIntegerField(default=0, db_column="told_rank")
    version = models.PositiveIntegerField(default=0)
    # For a deleted workspace: the last attempt to cancel its subscriptions, and when none was running any more.
    end_tried_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.workspace_id} {self.plan} {self.status}"

    @property
    def has_started_and_not_ended(self) -> bool:
        return self.status in RUNNING_STATUSES

    @property
    def grace_period_end(self) -> datetime | None:
        """Return when this past-due Subscription row's grace period ends, after which usage is not covered; else None."""
        if self.status != PAST_DUE or self.status_since is None:
            return None
        return self.status_since + timedelta(days=settings.PAST_DUE_GRACE_DAYS)

    def pays_for_usage_at(self, now: datetime) -> bool:
        """Return whether this Subscription row pays, at the given time, for usage beyond the free credit."""
        if self.status == PAST_DUE:
            return self.grace_period_end is None or now < self.grace_period_end
        return self.status in PAYING_STATUSES


class UsageReport(DueRow):
    """The model of a report to the payment processor of money spent beyond the free credit, at most one per ledger entry.

    A credit that takes back such money has a report of negative cents.

    `unknown_since` is the time of the first attempt with an unknown outcome. The report may be sent again only for a while
    after it, as long as the processor recognizes duplicates by the identifier, which is the entry's id.
    """

    class Status(models.TextChoices):
        PENDING = "pending"
        SENT = "sent"
        UNRESOLVED = "unresolved"  # no longer sent; left to the reconciliation

    entry_id = models.CharField(max_length=ids.ID_LENGTH, primary_key=True)
    workspace_id = models.CharField(max_length=ids.ID_LENGTH)
    month = models.DateField()
    cents = models.BigIntegerField()
    settled_at = models.DateTimeField()
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PENDING)
    customer_id = models.CharField(max_length=255, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    unknown_since = models.DateTimeField(null=True)
    last_error = models.CharField(max_length=200, blank=True)
    sent_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["due_at", "entry_id"], condition=Q(due_at__isnull=False), name="usage_report_due"),
            models.Index(fields=["workspace_id"], condition=Q(status="pending"), name="usage_report_pending"),
            models.Index(fields=["settled_at"], name="usage_report_settled"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(status="pending", due_at__isnull=False)
                | Q(status__in=["sent", "unresolved"], due_at__isnull=True),
                name="usage_report_due_until_finished",
            ),
            models.CheckConstraint(condition=~Q(cents=0), name="usage_report_of_something"),
        ]

    def __str__(self) -> str:
        return f"{self.entry_id} {self.cents} {self.status}"
