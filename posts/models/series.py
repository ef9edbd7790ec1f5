"""Models of series: posts that recur by a rule, and the occurrences of a series that were made or refused."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.db import models

from config.db.ids import PrefixedIdField
from config.db.models import DueRow, TimestampedModel
from posts.models.posts import PostGroup
from posts.recurrence import Recurrence, parse_rule
from workspaces.models import Workspace

LOCAL_FORMAT = "%Y-%m-%dT%H:%M"


class Series(DueRow, TimestampedModel):
    """The model of a series: a post, and the recurrence rule by which the worker loop makes scheduled posts of it.

    `starts_at` and `exdates` are local times of `timezone`, such as 2027-01-31T09:00. `post` is the request body of the post.
    `maker` is the caller that made the series, as the owner of Idempotency-Keys; `agent_id` is set if that is an agent.
    `revision` counts the changes. Scheduled posts that were made by a revision before `applied_revision` have to be brought
    up to date. `due_at` is when the worker loop has to do something next.
    """

    class Status(models.TextChoices):
        ACTIVE = "active"
        PAUSED = "paused"
        ENDED = "ended"

    id = PrefixedIdField("ser")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="series", db_index=False)
    name = models.CharField(max_length=200, null=True)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.ACTIVE)
    timezone = models.CharField(max_length=64)
    starts_at = models.CharField(max_length=16)
    rrule = models.CharField(max_length=1000)
    exdates = models.JSONField(default=list)
    post = models.JSONField()
    cost_cents_each = models.PositiveIntegerField()
    revision = models.PositiveIntegerField(default=1)
    applied_revision = models.PositiveIntegerField(default=1)
    made = models.PositiveIntegerField(default=0)
    maker = models.CharField(max_length=100)
    created_by_type = models.CharField(max_length=20)
    created_by_id = models.CharField(max_length=64)
    agent_id = models.CharField(max_length=30, null=True)
    trace_id = models.CharField(max_length=32)

    class Meta:
        verbose_name_plural = "series"
        constraints = [
            models.CheckConstraint(condition=models.Q(status__in=["active", "paused", "ended"]), name="series_status_known")
        ]
        indexes = [
            models.Index(fields=["workspace", "-id"], name="series_newest"),
            models.Index(fields=["due_at"], name="series_due", condition=models.Q(due_at__isnull=False)),
            # The live series of a workspace are counted for each new one, and those of revoked agents are ended.
            models.Index(fields=["workspace"], name="series_live", condition=~models.Q(status="ended")),
            models.Index(fields=["agent_id"], name="series_of_agent", condition=~models.Q(status="ended")),
        ]

    def __str__(self) -> str:
        return f"{self.status} {self.id}"

    @property
    def created_by(self) -> dict[str, str]:
        """Return the actor that created this Series row as the API shows it: its type and id, not an instance."""
        return {"actor_type": self.created_by_type, "actor_id": self.created_by_id}

    @property
    def account_ids(self) -> list[str]:
        return [target["connected_account_id"] for target in self.post["targets"]]

    @property
    def recurrence(self) -> Recurrence:
        """Return the rule of the series with its start, time zone and the local times that are left out."""
        exdates = frozenset(map(datetime.fromisoformat, self.exdates))
        return Recurrence(parse_rule(self.rrule), datetime.fromisoformat(self.starts_at), ZoneInfo(self.timezone), exdates)


class SeriesOccurrence(models.Model):
    """The model of an occurrence of a series for which a post was made or refused: one row for each series and instant.

    `group` is the post that was made, and `group_version` its content_version when the series made or edited it; a different
    one means that somebody else has edited the post. `error` says why it was refused. `tries` counts the attempts to make it.
    `number` is the number of the post among those that the series has made.
    `revision` is that of the series by which the post was made. A `withdrawn` post is to be cancelled.
    """

    series = models.ForeignKey(Series, on_delete=models.CASCADE, related_name="occurrences", db_index=False)
    at = models.DateTimeField()
    local = models.CharField(max_length=16)
    group = models.OneToOneField(PostGroup, on_delete=models.CASCADE, null=True, related_name="occurrence")
    group_version = models.PositiveIntegerField(null=True)
    error: models.JSONField[Any, Any] = models.JSONField(null=True)
    tries = models.PositiveIntegerField(default=1)
    number = models.PositiveIntegerField(default=1)
    revision = models.PositiveIntegerField()
    withdrawn = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["series", "at"], name="occurrence_once")]

    def __str__(self) -> str:
        return f"{self.series_id} at {self.at:%Y-%m-%d %H:%M}"
