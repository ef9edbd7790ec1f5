"""Models of billing: ledger entries, usage counters, payment events, subscriptions, usage reports and billing alarms.

The monthly and daily counters and the usage totals must always agree with the ledger. Workspaces, agents and targets are
plain ids: the rows outlive them, and a frequently updated counter needs no foreign key lock. Every amount is a Positive…
field, so the database refuses a counter below zero.
"""

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


class MonthCounter(models.Model):
    """The reserved and spent cents of one workspace or agent in one UTC month, for checks against its monthly caps.

    `url_posts` counts held and published posts with URLs.
    """

    holder_id = models.CharField(max_length=ids.ID_LENGTH)
    month = models.DateField()
    held_cents = models.PositiveBigIntegerField(default=0)
    settled_cents = models.PositiveBigIntegerField(default=0)
    url_posts = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["holder_id", "month"], name="month_counter_once")]
        indexes = [models.Index(fields=["month"], name="month_counter_by_month")]

    def __str__(self) -> str:
        return f"{self.holder_id} {self.month:%Y-%m}"


class DayCounter(models.Model):
    """The number of an agent's published and pending posts on one UTC day, counted per account, for its daily cap."""

    agent_id = models.CharField(max_length=ids.ID_LENGTH)
    day = models.DateField()
    targets = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["agent_id", "day"], name="day_counter_once")]

    def __str__(self) -> str:
        return f"{self.agent_id} {self.day}"


class UsageTotal(models.Model):
    """A workspace's published and failed posts in a month, with their cost, for one platform and one agent ("" for none)."""

    workspace_id = models.CharField(max_length=ids.ID_LENGTH)
    month = models.DateField()
    agent_id = models.CharField(max_length=ids.ID_LENGTH, blank=True)
    platform = models.CharField(max_length=32)
    published = models.PositiveBigIntegerField(default=0)
    failed = models.PositiveBigIntegerField(default=0)
    url_posts = models.PositiveBigIntegerField(default=0)
    spend_cents = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace_id", "month", "agent_id", "platform"], name="usage_total_once")
        ]

    def __str__(self) -> str:
        return f"{self.workspace_id} {self.month:%Y-%m} {self.agent_id} {self.platform}"


# Entries that count as spent. With IN instead of OR, SQLite would not use the index below.
SPENT_ENTRIES_CONDITION = Q(kind="settle") | Q(kind="adjust")


class LedgerEntry(models.Model):
    """A billing ledger entry, which never changes: money was reserved (hold), spent (settle), released or adjusted.

    A target's first hold has round 1, its next hold after a release round 2, and so on. A settle or release has the round,
    amounts and due day of the hold that it closes. `adjust` corrects a settled amount, up or down.
    """

    class Kind(models.TextChoices):
        HOLD = "hold"
        SETTLE = "settle"
        RELEASE = "release"
        ADJUST = "adjust"

    id = ids.PrefixedIdField("use")
    workspace_id = models.CharField(max_length=ids.ID_LENGTH)
    agent_id = models.CharField(max_length=ids.ID_LENGTH, blank=True)
    target_id = models.CharField(max_length=ids.ID_LENGTH)
    platform = models.CharField(max_length=32)
    round = models.PositiveIntegerField()
    kind = models.CharField(max_length=8, choices=Kind.choices)
    cents = models.BigIntegerField()
    url_posts = models.SmallIntegerField()
    month = models.DateField()
    day = models.DateField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name_plural = "ledger entries"
        indexes = [
            # Spent amounts by day. Holds and releases, which are most of the rows, are not in the index.
            models.Index(
                fields=["workspace_id", "month", "day", "kind", "cents"],
                condition=SPENT_ENTRIES_CONDITION,
                name="ledger_spent",
            )
        ]
        constraints = [
            models.UniqueConstraint(fields=["target_id", "round", "kind"], name="ledger_entry_once"),
            models.CheckConstraint(condition=Q(kind__in=["hold", "settle", "release", "adjust"]), name="ledger_entry_kind"),
            models.CheckConstraint(
                condition=Q(kind="adjust") | Q(cents__gte=0, url_posts__gte=0), name="ledger_entry_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.cents} {self.target_id}"

    def belongs_to(self, holder_id: str) -> bool:
        """Return whether the given id is the workspace or the agent of this ledger row."""
        return holder_id in (self.workspace_id, self.agent_id)


class ProcessorEvent(DueRow):
    """An event that the payment processor sent, stored as received. An event that is sent twice is stored once.

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
    """The stored copy of a workspace's subscription at the payment processor. The status is "" if there is no subscription.

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
    def grace_end(self) -> datetime | None:
        """Return the end of a past-due subscription's grace period, after which usage is not covered; None for any other."""
        if self.status != PAST_DUE or self.status_since is None:
            return None
        return self.status_since + timedelta(days=settings.PAST_DUE_GRACE_DAYS)

    def pays_for_usage_at(self, now: datetime) -> bool:
        """Return whether the subscription in this row pays, at the given time, for usage beyond the free credit."""
        if self.status == PAST_DUE:
            return self.grace_end is None or now < self.grace_end
        return self.status in PAYING_STATUSES


class UsageReport(DueRow):
    """A report to the payment processor of money spent beyond the month's free credit, at most one for each ledger entry.

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
    cents = models.PositiveBigIntegerField()
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
            models.CheckConstraint(condition=Q(cents__gt=0), name="usage_report_of_something"),
        ]

    def __str__(self) -> str:
        return f"{self.entry_id} {self.cents} {self.status}"


class BillingAlarm(models.Model):
    """A billing problem for the operators. Each kind of problem has at most one open alarm about the same subject.

    `subject` is the id of the affected workspace, ledger entry, event or customer; "" means the whole service.
    """

    class Kind(models.TextChoices):
        EVENTS = "events"  # the processor's events about a workspace had no effect
        SUBSCRIPTIONS = "subscriptions"  # a customer has several running subscriptions
        CUSTOMER = "customer"  # the customer does not exist at the processor
        DELETED = "deleted"  # a deleted workspace's subscription could not be cancelled
        USAGE_WAITS = "usage_waits"  # usage cannot be reported because no subscription pays
        USAGE_REFUSED = "usage_refused"  # the processor refuses a report
        USAGE_UNRESOLVED = "usage_unresolved"  # it is unknown whether a report arrived, or it is too old
        USAGE_SUM = "usage_sum"  # the processor's sum differs from the reported sum
        BOOKS = "books"  # a month's counter is not the sum of its ledger entries
        RECONCILIATION = "reconciliation"  # the nightly reconciliation could not finish

    kind = models.CharField(max_length=20, choices=Kind.choices)
    subject = models.CharField(max_length=255, blank=True)
    detail = models.CharField(max_length=500)
    first_seen_at = models.DateTimeField(default=timezone.now)
    last_seen_at = models.DateTimeField(default=timezone.now)
    resolved_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["kind", "subject"], condition=Q(resolved_at=None), name="billing_alarm_open_once")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"
