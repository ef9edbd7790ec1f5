"""The model of corrections: credits and charges of a month that one operator proposes and another approves."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from config.db import ids

PROPOSAL_LIFETIME = timedelta(days=14)


def _two_weeks_from_now() -> datetime:
    return timezone.now() + PROPOSAL_LIFETIME


class Correction(models.Model):
    """The model of a correction of a month's spending, proposed by one operator; it counts once another has approved it.

    A credit has negative cents. The customer sees the reason. The approved correction's ledger entry has its id as
    `target_id`. Operators are plain ids, as in the audit log.
    """

    class Status(models.TextChoices):
        PROPOSED = "proposed"
        APPROVED = "approved"
        WITHDRAWN = "withdrawn"  # by the operator who proposed it, or rejected by another

    id = ids.PrefixedIdField("cor")
    workspace_id = models.CharField(max_length=ids.ID_LENGTH)
    month = models.DateField()
    cents = models.BigIntegerField()
    reason = models.CharField(max_length=500)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PROPOSED)
    proposed_by = models.CharField(max_length=ids.ID_LENGTH)
    proposed_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(default=_two_weeks_from_now, editable=False)
    decided_by = models.CharField(max_length=ids.ID_LENGTH, blank=True)
    decided_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["workspace_id", "month"], name="correction_of_month")]
        constraints = [
            models.CheckConstraint(condition=~Q(cents=0) & ~Q(reason=""), name="correction_of_something"),
            models.CheckConstraint(
                condition=Q(status="proposed", decided_by="", decided_at=None)
                | Q(status="withdrawn", decided_at__isnull=False)
                | Q(status="approved", decided_at__lt=F("expires_at")) & ~Q(decided_by="") & ~Q(decided_by=F("proposed_by")),
                name="correction_by_two_operators",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.cents} cents, {self.workspace_id} {self.month:%Y-%m} ({self.id})"

    @property
    def is_expired(self) -> bool:
        """Return whether this Correction row was not decided in time and can no longer be approved."""
        return self.status == self.Status.PROPOSED and self.expires_at <= timezone.now()
