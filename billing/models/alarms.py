"""What an operator has to look at."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone


class BillingAlarm(models.Model):
    """Something about money that is not as it must be, until `resolved_at`. Open ones stand once for each subject.

    `subject` is the id of what it is about: a workspace, ledger entry or customer; "" for the service as a whole.
    """

    class Kind(models.TextChoices):
        EVENTS = "events"  # the processor's events about a workspace had no effect
        SUBSCRIPTIONS = "subscriptions"  # a customer with several subscriptions
        CUSTOMER = "customer"  # the processor does not know the customer
        DELETED = "deleted"  # a deleted workspace whose subscription could not be ended
        USAGE_WAITS = "usage_waits"  # usage that cannot be reported, since no subscription would pay for it
        USAGE_REFUSED = "usage_refused"  # the processor does not take a report
        USAGE_UNRESOLVED = "usage_unresolved"  # nobody knows whether the processor has a report, or it came too late
        USAGE_SUM = "usage_sum"  # what the processor has is not what was reported
        BOOKS = "books"  # a month's counter is not the sum of its ledger entries
        RECONCILIATION = "reconciliation"  # the nightly look could not be finished

    kind = models.CharField(max_length=20, choices=Kind.choices)
    subject = models.CharField(max_length=255, blank=True)
    detail = models.CharField(max_length=500)
    first_seen_at = models.DateTimeField(default=timezone.now)
    last_seen_at = models.DateTimeField(default=timezone.now)
    resolved_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "subject"], condition=Q(resolved_at=None), name="billing_alarm_open_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"
