"""Models of post groups, of post targets, and of composer drafts; a target is one account that a post group is published to.

A target is also a row that the publisher claims when it is due (config/jobs/claims.py).
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any

from django.db import models
from django.utils import timezone

from accounts.models import ConnectedAccount
from accounts.platforms.types import Progress
from config.db.ids import PrefixedIdField
from config.db.models import DueRow, TimestampedModel
from posts.states import (
    FINAL_CERTAINTIES,
    NEEDS_A_PERSON,
    UNFINISHED_TARGET_STATUSES,
    Certainty,
    GroupStatus,
    TargetStatus,
    target_cost_cents,
)
from workspaces.models import User, Workspace


class PostGroup(TimestampedModel):
    """The model of a post: a text with media for one or more accounts.

    `event_url` receives the post's webhook events; it may be the URL of the agent that created the post. `plan_hash` is the
    hash of the plan that was committed last (posts/plan.py), null for groups from before there were plans.
    """

    id = PrefixedIdField("pgr")
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="post_groups", db_index=False
    )  # no index of its own, because group_by_day covers this foreign key
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
    rejection_reason = models.CharField(max_length=1000, null=True)
    trace_id = models.CharField(max_length=32)
    plan_hash = models.CharField(max_length=71, null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(status__in=GroupStatus.values), name="group_status_known")]
        indexes = [
            models.Index(fields=["workspace", "scheduled_at"], name="group_by_day"),
            models.Index(fields=["workspace", "-id"], name="group_newest"),
            models.Index(fields=["trace_id"], name="group_trace"),
            # The calendar shows posts without scheduled_at at their creation time.
            models.Index(fields=["workspace", "created_at"], name="group_at_once", condition=models.Q(scheduled_at=None)),
            # Groups that need a person: few rows, queried by every dashboard page.
            models.Index(
                fields=["workspace", "status", "-id"],
                name="group_attention",
                condition=models.Q(status__in=[str(status) for status in NEEDS_A_PERSON]),
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
    def created_by(self) -> dict[str, str]:
        """Return the actor that created the post as the API shows it: its type and id, not an instance."""
        return {"actor_type": self.created_by_type, "actor_id": self.created_by_id}


class StoredPlan(TimestampedModel):
    """The model of a plan made by POST /plans, which its maker or a person may commit until it expires.

    `request` is the body of the operation, `preview` the answer to its dry run, `content` what the hash was taken of, and
    `maker` the owner of the caller's Idempotency-Keys. A committed plan has the ids of its post groups in `result_ids`.
    """

    id = PrefixedIdField("pln")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="plans", db_index=False)
    operation = models.CharField(max_length=64)
    post_group_id = models.CharField(max_length=30, null=True)
    request = models.JSONField(default=dict)
    preview = models.JSONField()
    content = models.JSONField()
    hash = models.CharField(max_length=71)
    maker = models.CharField(max_length=100)
    created_by_type = models.CharField(max_length=20)
    created_by_id = models.CharField(max_length=64)
    agent_id = models.CharField(max_length=30, null=True)
    expires_at = models.DateTimeField(db_index=True)
    committed_at = models.DateTimeField(null=True)
    result_ids = models.JSONField(null=True)
    trace_id = models.CharField(max_length=32)

    class Meta:
        indexes = [
            models.Index(fields=["workspace", "-id"], name="plan_newest"),
            # Open plans are counted for each new one.
            models.Index(fields=["workspace", "expires_at"], name="plan_open", condition=models.Q(committed_at=None)),
        ]

    def __str__(self) -> str:
        return f"{self.operation} {self.id}"

    @property
    def status(self) -> str:
        """Return `committed`, `expired` or `open`."""
        if self.committed_at:
            return "committed"
        return "expired" if self.expires_at <= timezone.now() else "open"

    @property
    def created_by(self) -> dict[str, str]:
        """Return the actor that made the plan as the API shows it: its type and id, not an instance."""
        return {"actor_type": self.created_by_type, "actor_id": self.created_by_id}

    @property
    def result(self) -> dict[str, Any] | None:
        """Return what committing the plan created or changed."""
        return {"resource_type": "post_group", "resource_ids": self.result_ids} if self.committed_at else None


class PostTarget(DueRow, TimestampedModel):
    """The model of one account that a post group is published to, with the status and result of publishing.

    `phase` and `progress` say which step comes next. `step_begun_at` is set before each step and cleared with its outcome, so
    a claimed row that has it set had a step with unknown outcome: its worker died, or the platform did not answer.
    `certainty` says whether the post is at the platform; it is `maybe_sent` from before a step that publishes until its
    outcome is known. `worker_losses` counts the workers that died in the current step. `turn_at` is the time slot at the
    account that the target waits for. `attempts` counts all attempts, `round_attempts` those since the last release or retry.
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
                        for status, certainties in FINAL_CERTAINTIES.items()
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
        ]

    def __str__(self) -> str:
        return f"{self.platform} {self.status} {self.id}"

    @property
    def shown_text(self) -> str:
        """Return the text that is published for this post target: its own text, or else the post group's."""
        return self.group.text if self.text is None else self.text

    @property
    def stored_progress(self) -> Progress:
        """Return the publishing progress that is stored in this post target's row, as the adapters' type Progress."""
        return Progress.from_stored(self.phase, self.progress)

    @property
    def cost_cents(self) -> int:
        """Return the price of this post target in cents; 0 if it failed or was cancelled."""
        return target_cost_cents(self.status, self.price_cents)


class ComposerDraft(models.Model):
    """The model of a composer draft: what one person has entered in the dashboard's composer and not yet saved as a post.

    Nobody else sees it, and the API does not know it. `key` identifies it in the composer's URL and is the idempotency key of
    the post that is made of it. `fields` are the form's fields with their values. `group` is the post that is being edited,
    or None for a new post. `editor` is the open browser page that saved it last.
    """

    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="composer_drafts", db_index=False
    )  # no index of its own, because composer_draft_once covers this foreign key
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="composer_drafts")
    group = models.ForeignKey(PostGroup, on_delete=models.CASCADE, null=True, related_name="composer_drafts")
    key = models.CharField(max_length=64)
    fields = models.JSONField(default=dict)
    editor = models.CharField(max_length=64, blank=True)
    saved_at = models.DateTimeField(db_index=True)
    discarded_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "user", "key"], name="composer_draft_once")]

    def __str__(self) -> str:
        return f"Composer draft {self.pk} of {self.user_id}"

    @property
    def text(self) -> str:
        """Return the text for all accounts that a composer draft contains."""
        return next(iter(self.fields.get("text", ())), "")


class PublishingPreference(models.Model):
    """The model of a person's choice that posts published in the dashboard do not wait ten seconds for an undo."""

    user = models.OneToOneField(User, on_delete=models.CASCADE, primary_key=True, related_name="publishing_preference")
    at_once = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"{self.user_id} publishes {'at once' if self.at_once else 'after ten seconds'}"
