"""`manage.py reconcile_billing`: compare billing with the payment processor now, as the nightly task does."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from billing import services
from billing.models import BillingAlarm


class Command(BaseCommand):
    """The command that compares billing with the payment processor. It prints its progress and the open billing alarms.

    It fails if the processor does not answer.
    """

    help = "Compare subscriptions and reported usage with the payment processor, and the counters with the ledger."

    def handle(self, *args: Any, **options: Any) -> None:
        result = services.reconcile_billing(progress=self.stdout.write)
        for alarm in BillingAlarm.objects.filter(resolved_at=None).order_by("first_seen_at"):
            self.stdout.write(f"Open since {alarm.first_seen_at:%Y-%m-%d %H:%M}: {alarm}: {alarm.detail}")
        self.stdout.write(str(result))
        if not result.complete:
            raise CommandError("The payment processor does not answer. Run this command again later.")
