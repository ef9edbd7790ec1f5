"""Retention rules of webhook events and deliveries: 30 days, but 3 days for events of the sandbox.

The periods are those of CONTRACT, section 8.
"""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from config.db.retention import ExpiredRowsRule
from webhooks.models import Delivery, Event, SigningSecret
from workspaces.retention import workspaces_to_purge

EVENT_RETENTION = timedelta(days=30)
SANDBOX_EVENT_RETENTION = timedelta(days=3)
_UNDELIVERED = Exists(Delivery.objects.filter(event=OuterRef("pk"), due_at__isnull=False))


class ExpiredEventsRule(ExpiredRowsRule):
    """The retention rule that deletes expired webhook events with their deliveries, unless a delivery is unfinished."""

    name = "events_and_deliveries"

    def expired_rows(self) -> QuerySet[Event]:
        return Event.objects.filter(Q(**_expired(sandbox=True)) | Q(**_expired(sandbox=False))).exclude(_UNDELIVERED)

    def next_rows_to_delete(self) -> QuerySet[Event]:
        """Return the expired webhook events to delete next, oldest first: events of the sandbox before all others.

        All others are returned only if no event of the sandbox has expired.
        """
        sandbox, real = (
            Event.objects.filter(**_expired(sandbox=which)).exclude(_UNDELIVERED).order_by("created_at")
            for which in (True, False)
        )
        return sandbox if sandbox.exists() else real


class PurgedWorkspaceEventsRule(ExpiredRowsRule):
    """The retention rule that deletes the webhook events of purged workspaces."""

    name = "events_of_purged_workspaces"

    def expired_rows(self) -> QuerySet[Event]:
        return Event.objects.filter(workspace__in=workspaces_to_purge())


class PurgedWorkspaceSigningSecretsRule(ExpiredRowsRule):
    """The retention rule that deletes the webhook signing secrets of purged workspaces.

    A late delivery may have created a secret after the workspace was deleted.
    """

    name = "signing_secrets"

    def expired_rows(self) -> QuerySet[SigningSecret]:
        return SigningSecret.objects.filter(workspace__in=workspaces_to_purge())


def _expired(*, sandbox: bool) -> dict[str, object]:
    return {"sandbox": sandbox, "created_at__lt": timezone.now() - (SANDBOX_EVENT_RETENTION if sandbox else EVENT_RETENTION)}
