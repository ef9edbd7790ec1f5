"""The model of plans: writes that were previewed and stored by POST /plans, to be committed later."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.utils import timezone

from config.db.ids import PrefixedIdField
from config.db.models import TimestampedModel
from workspaces.models import Workspace


class StoredPlan(TimestampedModel):
    """The model of a stored plan: a previewed write that its creator or an approving person may commit until it expires.

    `request` is the body of the operation, `preview` the answer to its dry run, `content` what the hash was taken of, and
    `maker` the owner of the caller's Idempotency-Keys. A committed plan has the ids of its post groups in `result_ids`.
    `dashboard_page` is the page of the dashboard on which a person has made it, whose next plans replace it; "" for others.
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
    dashboard_page = models.CharField(max_length=30, blank=True, default="", db_default="")
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
        """Return the status of this stored plan of posts: `committed`, `expired` or `open`."""
        if self.committed_at:
            return "committed"
        return "expired" if self.expires_at <= timezone.now() else "open"

    @property
    def created_by(self) -> dict[str, str]:
        """Return the actor that made this stored plan as the API shows it: its type and id, not an instance."""
        return {"actor_type": self.created_by_type, "actor_id": self.created_by_id}

    @property
    def result(self) -> dict[str, Any] | None:
        """Return the type and ids of the resources that the commit of this stored plan created or changed; None before it."""
        resource_type = "series" if self.operation == "series.create" else "post_group"
        return {"resource_type": resource_type, "resource_ids": self.result_ids} if self.committed_at else None
