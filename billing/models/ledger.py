"""Models of the ledger, the monthly and daily counters, and usage totals, which must always agree with the ledger.

Workspaces, agents and targets are plain ids: the rows outlive them, and a frequently updated counter needs no foreign key
lock. Every amount is a Positive… field, so the database refuses a counter below zero.
"""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q, Value
from django.utils import timezone

from config.db import ids


class MonthCounterQuerySet(models.QuerySet["MonthCounter"]):
    def with_capacity_for(
        self, *, cents: int, limit_cents: int | None, url_posts: int, url_post_cap: int | None
    ) -> MonthCounterQuerySet:
        """Return the counters that can take these amounts. An amount of zero passes even if its cap was lowered."""
        rows = self
        if cents and limit_cents is not None:
            rows = rows.filter(held_cents__lte=Value(limit_cents - cents) - F("settled_cents"))
        if url_posts and url_post_cap is not None:
            rows = rows.filter(url_posts__lte=url_post_cap - url_posts)
        return rows


class MonthCounter(models.Model):
    """The held and spent cents of a workspace or an agent (`holder_id`) in a UTC month (`month` is its first day).

    `url_posts` counts held and published posts with URLs.
    """

    holder_id = models.CharField(max_length=ids.LENGTH)
    month = models.DateField()
    held_cents = models.PositiveBigIntegerField(default=0)
    settled_cents = models.PositiveBigIntegerField(default=0)
    url_posts = models.PositiveBigIntegerField(default=0)

    objects = MonthCounterQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["holder_id", "month"], name="month_counter_once")]
        indexes = [models.Index(fields=["month"], name="month_counter_by_month")]

    def __str__(self) -> str:
        return f"{self.holder_id} {self.month:%Y-%m}"


class DayCounter(models.Model):
    """The number of an agent's published and pending targets that are due on a UTC day."""

    agent_id = models.CharField(max_length=ids.LENGTH)
    day = models.DateField()
    targets = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["agent_id", "day"], name="day_counter_once")]

    def __str__(self) -> str:
        return f"{self.agent_id} {self.day}"


class UsageTotal(models.Model):
    """Published and failed targets and their cost by month, agent and platform; without an agent `agent_id` is ""."""

    workspace_id = models.CharField(max_length=ids.LENGTH)
    month = models.DateField()
    agent_id = models.CharField(max_length=ids.LENGTH, blank=True)
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
SPENT_ENTRIES = Q(kind="settle") | Q(kind="adjust")


class LedgerEntry(models.Model):
    """One movement of money. Entries are added, never changed.

    A target's first hold has round 1, its next hold after a release round 2, and so on. A settle or release has the round,
    amounts and due day of the hold that it closes. `adjust` corrects a settled amount, up or down.
    """

    class Kind(models.TextChoices):
        HOLD = "hold"
        SETTLE = "settle"
        RELEASE = "release"
        ADJUST = "adjust"

    id = ids.PrefixedIdField("use")
    workspace_id = models.CharField(max_length=ids.LENGTH)
    agent_id = models.CharField(max_length=ids.LENGTH, blank=True)
    target_id = models.CharField(max_length=ids.LENGTH)
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
                condition=SPENT_ENTRIES,
                name="ledger_spent",
            )
        ]
        constraints = [
            models.UniqueConstraint(fields=["target_id", "round", "kind"], name="ledger_entry_once"),
            models.CheckConstraint(
                condition=Q(kind__in=["hold", "settle", "release", "adjust"]), name="ledger_entry_kind"
            ),
            models.CheckConstraint(
                condition=Q(kind="adjust") | Q(cents__gte=0, url_posts__gte=0), name="ledger_entry_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.cents} {self.target_id}"

    def belongs_to(self, holder_id: str) -> bool:
        """Return whether the entry counts for this workspace or agent."""
        return holder_id in (self.workspace_id, self.agent_id)
