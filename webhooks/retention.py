"""How long events and their deliveries are kept: 30 days, those of the sandbox 3 (CONTRACT: section 8)."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from config.db.retention import ExpiredRows
from webhooks.models import Delivery, Event, SigningSecret
from workspaces.retention import workspaces_to_purge

RETENTION = timedelta(days=30)
SANDBOX_RETENTION = timedelta(days=3)
_ON_ITS_WAY = Exists(Delivery.objects.filter(event=OuterRef("pk"), due_at__isnull=False))


class ExpiredEvents(ExpiredRows):
    """Events with their deliveries; one that is on its way still, after a replay, is kept until it has arrived or not."""

    name = "events_and_deliveries"

    def rows(self) -> QuerySet[Event]:
        return Event.objects.filter(Q(**_over(sandbox=True)) | Q(**_over(sandbox=False))).exclude(_ON_ITS_WAY)

    def ready(self) -> QuerySet[Event]:
        """Those of the sandbox, or when there are none the others: the oldest first, as the index has them."""
        sandbox, real = (
            Event.objects.filter(**_over(sandbox=which)).exclude(_ON_ITS_WAY).order_by("created_at")
            for which in (True, False)
        )
        return sandbox if sandbox.exists() else real


class PurgedWorkspaceEvents(ExpiredRows):
    """What workspaces hold that were deleted long enough ago."""

    name = "events_of_purged_workspaces"

    def rows(self) -> QuerySet[Event]:
        return Event.objects.filter(workspace__in=workspaces_to_purge())


class PurgedWorkspaceSecrets(ExpiredRows):
    """Destroyed long ago, unless somebody's delivery made one at that very moment."""

    name = "signing_secrets"

    def rows(self) -> QuerySet[SigningSecret]:
        return SigningSecret.objects.filter(workspace__in=workspaces_to_purge())


def _over(*, sandbox: bool) -> dict[str, object]:
    return {"sandbox": sandbox, "created_at__lt": timezone.now() - (SANDBOX_RETENTION if sandbox else RETENTION)}
