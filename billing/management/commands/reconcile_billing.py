"""`manage.py reconcile_billing`: the nightly look at the payment processor's truth and at the books, now."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from billing import services
from billing.models import BillingAlarm


class Command(BaseCommand):
    """Says how far it is, then what is open. Ends with an error when the processor did not answer."""

    help = "Compares subscriptions and reported usage with the payment processor, and the counters with the ledger."

    def handle(self, *args: Any, **options: Any) -> None:
        found = services.reconcile(say=self.stdout.write)
        for alarm in BillingAlarm.objects.filter(resolved_at=None).order_by("first_seen_at"):
            self.stdout.write(f"Open since {alarm.first_seen_at:%Y-%m-%d %H:%M}: {alarm}: {alarm.detail}")
        self.stdout.write(str(found))
        if not found.complete:
            raise CommandError("The payment processor does not answer; run this again later.")
