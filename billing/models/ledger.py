"""Models of the billing ledger, and of the counters and usage totals that must always agree with it.

Workspaces, agents and targets are plain ids: the rows outlive them, and a frequently updated counter needs no foreign key
lock. Every counter is a Positive… field, so the database refuses one below zero.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from config.db import ids

CORRECTION_PLATFORM = "correction"  # the platform of what is no charge for a post


class MonthCounter(models.Model):
    """The model that counts, beside the ledger, the reserved and spent cents of a workspace or agent in a month.

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
    """The model that counts, beside the ledger, an agent's published and pending posts of a day, for its daily cap."""

    agent_id = models.CharField(max_length=ids.ID_LENGTH)
    day = models.DateField()
    targets = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["agent_id", "day"], name="day_counter_once")]

    def __str__(self) -> str:
        return f"{self.agent_id} {self.day}"


class UsageTotal(models.Model):
    """The model that sums, beside the ledger, a month's published and failed posts and their cost, by platform and agent.

    The row of CORRECTION_PLATFORM has the sum of the month's corrections as `spend_cents`, which may be negative.
    """

    workspace_id = models.CharField(max_length=ids.ID_LENGTH)
    month = models.DateField()
    agent_id = models.CharField(max_length=ids.ID_LENGTH, blank=True)
    platform = models.CharField(max_length=32)
    published = models.PositiveBigIntegerField(default=0)
    failed = models.PositiveBigIntegerField(default=0)
    url_posts = models.PositiveBigIntegerField(default=0)
    spend_cents = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(platform=CORRECTION_PLATFORM) | Q(spend_cents__gte=0), name="usage_total_not_negative"
            ),
            models.UniqueConstraint(fields=["workspace_id", "month", "agent_id", "platform"], name="usage_total_once"),
        ]

    def __str__(self) -> str:
        return f"{self.workspace_id} {self.month:%Y-%m} {self.agent_id} {self.platform}"


# Entries that count as spent. With IN instead of OR, SQLite would not use the index below.
SPENT_ENTRIES_CONDITION = Q(kind="settle") | Q(kind="adjust")


class LedgerEntry(models.Model):
    """The model of an entry of the billing ledger: money was reserved (hold), spent (settle), released or adjusted.

    A target's first hold has round 1, its next hold after a release round 2, and so on. A settle or release has the round,
    amounts and due day of the hold that it closes. `adjust` corrects what a workspace spent in a month, up or down; its
    `target_id` is the id of the correction (`cor_…`), its platform is CORRECTION_PLATFORM, and it has no agent.
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
            ),
            # Released amounts, for statements. The entries of published posts are not in the index.
            models.Index(fields=["workspace_id", "month", "cents"], condition=Q(kind="release"), name="ledger_released"),
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

    def belongs_to_workspace_or_agent(self, holder_id: str) -> bool:
        """Return whether this LedgerEntry row belongs to the workspace or agent with the given id."""
        return holder_id in (self.workspace_id, self.agent_id)
