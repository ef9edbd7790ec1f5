"""The model of usage reports: usage beyond the free credit that the payment processor has to invoice."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from config.db import ids
from config.db.models import DueRow


class UsageReport(DueRow):
    """The part of one settled ledger entry beyond the free credit, calculated when the entry was settled.

    `unknown_since` is the time of the first attempt with an unknown outcome. The report may be sent again only for a while
    after it, as long as the processor recognizes duplicates by the identifier, which is the entry's id.
    """

    class Status(models.TextChoices):
        PENDING = "pending"
        SENT = "sent"
        UNRESOLVED = "unresolved"  # no longer sent; left to the reconciliation

    entry_id = models.CharField(max_length=ids.LENGTH, primary_key=True)
    workspace_id = models.CharField(max_length=ids.LENGTH)
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
