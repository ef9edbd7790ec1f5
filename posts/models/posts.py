"""Models of post groups and of post targets; a target is one account that a post group is published to.

A target is also a row that the publisher claims when it is due (config/jobs/claims.py).
"""

from __future__ import annotations

from datetime import datetime
from functools import reduce
from operator import or_

from django.db import models
from django.db.models.functions import Coalesce

from accounts.models import ConnectedAccount
from accounts.platforms.types import Progress
from config.db.ids import PrefixedIdField
from config.db.models import DueRow, TimestampedModel
from posts.states import (
    CERTAINTIES_BY_FINAL_STATUS,
    FREED_SLOT_STATUSES,
    GROUP_STATUSES_NEEDING_A_PERSON,
    UNFINISHED_TARGET_STATUSES,
    Certainty,
    GroupStatus,
    TargetStatus,
    shown_scheduled_at_or_none,
    target_cost_cents,
)
from workspaces.models import Workspace


class PostGroup(TimestampedModel):
    """The model of a post: a text with media for one or more accounts.

    `scheduled_at` is the time for the targets that have none of their own; `shown_scheduled_at_or_none` is what the API
    shows. `event_url` receives the post's webhook events; it may be the URL of the agent that created the post. `plan_hash`
    is the hash of the plan that was committed last (posts/plan.py), null for groups from before there were plans.
    A write that is based on a read is guarded by `GUARD_FIELDS`, of which every change of the post changes one.
    """

    GUARD_FIELDS = ("content_version", "event_sequence", "updated_at")  # a retry may change only the last

    id = PrefixedIdField("pgr")
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="post_groups", db_index=False
    )  # no index of its own, because group_newest covers this foreign key
    status = models.CharField(max_length=20, choices=GroupStatus.choices)
    content_version = models.PositiveIntegerField(default=1)
    text = models.TextField(blank=True)
    media = models.JSONField(default=list)
    scheduled_at = models.DateTimeField(null=True)
    sandbox = models.BooleanField(default=False)
    webhook_url = models.CharField(max_length=2048, null=True)
    event_url = models.CharField(max_length=2048, null=True)
    event_sequence = models.PositiveIntegerField(default=0)
    metadata = models.JSONField(default=dict)
    created_by_type = models.CharField(max_length=20)
    created_by_id = models.CharField(max_length=64)
    agent_id = models.CharField(max_length=30, null=True)
    series_id = models.CharField(max_length=30, null=True)  # no foreign key, because nothing is searched by it
    rejection_reason = models.CharField(max_length=1000, null=True)
    trace_id = models.CharField(max_length=32)
    plan_hash = models.CharField(max_length=71, null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(status__in=GroupStatus.values), name="group_status_known")]
        indexes = [
            models.Index(fields=["workspace", "-id"], name="group_newest"),
            models.Index(fields=["trace_id"], name="group_trace"),
            # Groups that need a person: few rows, queried by every dashboard page.
            models.Index(
                fields=["workspace", "status", "-id"],
                name="group_attention",
                condition=models.Q(status__in=[str(status) for status in GROUP_STATUSES_NEEDING_A_PERSON]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.status} {self.id}"

    @property
    def cost_cents(self) -> int:
        return sum(target.cost_cents for target in self.targets.all())

    @property
    def account_ids(self) -> list[str]:
        return [target.account_id for target in self.targets.all()]

    @property
    def was_attempted(self) -> bool:
        return any(target.attempts for target in self.targets.all())

    @property
    def shown_scheduled_at_or_none(self) -> datetime | None:
        """Return the time that the API shows as `scheduled_at` of this PostGroup row, computed from its targets."""
        return shown_scheduled_at_or_none(self.targets.all())

    @property
    def created_by(self) -> dict[str, str]:
        """Return the actor that created this PostGroup row as the API shows it: its type and id, not an instance."""
        return {"actor_type": self.created_by_type, "actor_id": self.created_by_id}


class PostTarget(DueRow, TimestampedModel):
    """The model of one account that a post group is published to, with the status and result of publishing.

    `phase` and `progress` say which step comes next. `step_begun_at` is set before each step and cleared with its outcome, so
    a claimed row that has it set had a step with unknown outcome: its worker died, or the platform did not answer.
    `certainty` says whether the post is at the platform; it is `maybe_sent` from before a step that publishes until its
    outcome is known. `worker_losses` counts the workers that died in the current step. `turn_at` is the time slot at the
    account that the target waits for. `scheduled_at` is the time that was chosen for the target, the group's included; null
    if it is published at once. `slot`: that time is a slot of the account; a draft has no time until it is released.
    `attempts` counts all attempts, `round_attempts` those since the last release or retry.
    """

    id = PrefixedIdField("tgt")
    # The indexes target_once and target_content cover both foreign keys.
    group = models.ForeignKey(PostGroup, on_delete=models.CASCADE, related_name="targets", db_index=False)
    account = models.ForeignKey(ConnectedAccount, on_delete=models.PROTECT, related_name="targets", db_index=False)
    platform = models.CharField(max_length=20)
    position = models.PositiveSmallIntegerField()
    sandbox = models.BooleanField(default=False)
    status = models.CharField(max_length=12, choices=TargetStatus.choices, default=TargetStatus.PENDING)
    text = models.TextField(null=True)
    options = models.JSONField(default=dict)
    content_sha256 = models.CharField(max_length=64)
    external_id = models.CharField(max_length=255, null=True)
    permalink = models.CharField(max_length=2048, null=True)
    attempts = models.PositiveIntegerField(default=0)
    round_attempts = models.PositiveIntegerField(default=0)
    phase = models.CharField(max_length=20, blank=True)
    progress = models.JSONField(default=dict)
    step_begun_at = models.DateTimeField(null=True)
    worker_losses = models.PositiveSmallIntegerField(default=0)
    certainty = models.CharField(max_length=10, choices=Certainty.choices, default=Certainty.NOT_SENT)
    turn_at = models.DateTimeField(null=True)
    scheduled_at = models.DateTimeField(null=True)
    slot = models.BooleanField(default=False)
    published_at = models.DateTimeField(null=True)
    price_cents = models.PositiveIntegerField(default=0)
    url_posts = models.PositiveSmallIntegerField(default=0)
    error = models.JSONField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["group", "account"], name="target_once"),
            models.CheckConstraint(condition=models.Q(status__in=TargetStatus.values), name="target_status_known"),
            models.CheckConstraint(condition=models.Q(certainty__in=Certainty.values), name="target_certainty_known"),
            # A target ends as published, failed or cancelled only if that is certain.
            models.CheckConstraint(
                condition=models.Q(status__in=[str(status) for status in sorted(UNFINISHED_TARGET_STATUSES)])
                | reduce(
                    or_,
                    [
                        models.Q(status=str(status), certainty__in=[str(certainty) for certainty in certainties])
                        for status, certainties in CERTAINTIES_BY_FINAL_STATUS.items()
                    ],
                ),
                name="target_outcome_certain",
            ),
            # A finished target is never due, so that only a retry can publish it again.
            models.CheckConstraint(
                condition=models.Q(status__in=[str(status) for status in sorted(UNFINISHED_TARGET_STATUSES)])
                | models.Q(due_at=None),
                name="target_over_is_not_due",
            ),
            # Each slot of an account has one target. A draft takes none: its time is null.
            models.UniqueConstraint(
                fields=["account", "scheduled_at"],
                name="target_slot_once",
                condition=models.Q(slot=True) & ~models.Q(status__in=[str(status) for status in FREED_SLOT_STATUSES]),
            ),
            # A published post belongs to one target only.
            models.UniqueConstraint(
                fields=["account", "external_id"],
                name="target_post_once",
                condition=models.Q(external_id__isnull=False) & ~models.Q(external_id=""),
            ),
        ]
        indexes = [
            models.Index(fields=["platform", "due_at"], name="target_due", condition=models.Q(due_at__isnull=False)),
            models.Index(fields=["account", "content_sha256", "created_at"], name="target_content"),
            # For lists of a day. The calendar shows targets without scheduled_at at their creation time.
            models.Index("account", Coalesce("scheduled_at", "created_at"), name="target_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.platform} {self.status} {self.id}"

    @property
    def shown_text(self) -> str:
        """Return the text that is published for this PostTarget row: its own text, or else the post group's."""
        return self.group.text if self.text is None else self.text

    @property
    def stored_progress(self) -> Progress:
        """Return the publishing progress stored in this PostTarget row as a Progress, the type that adapters use."""
        return Progress.from_stored(self.phase, self.progress)

    @property
    def cost_cents(self) -> int:
        """Return the price of this PostTarget row in cents; 0 if it failed or was cancelled."""
        return target_cost_cents(self.status, self.price_cents)
