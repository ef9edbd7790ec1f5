"""The model of billing alarms."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone


class BillingAlarm(models.Model):
    """The model of a billing problem for operators. Each kind of problem has at most one open alarm about the same subject.

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
