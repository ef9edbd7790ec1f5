"""Purges workspaces that were deleted more than DELETED_WORKSPACE_DAYS ago."""

from __future__ import annotations

from datetime import timedelta

from django.apps import apps
from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from config.api.caller import WorkspaceStatus
from config.db.retention import ExpiredRows
from workspaces.models import Workspace


def workspaces_to_purge() -> QuerySet[Workspace]:
    """Return the workspaces deleted more than DELETED_WORKSPACE_DAYS ago. Each app purges its own rows of them."""
    deleted_before = timezone.now() - timedelta(days=settings.DELETED_WORKSPACE_DAYS)
    # A deleted workspace never changes again, so `updated_at` is the time of its deletion.
    return Workspace.objects.filter(status=WorkspaceStatus.DELETED, updated_at__lte=deleted_before)


class DeletedWorkspaces(ExpiredRows):
    """Deletes workspaces and their members once no row of another app refers to them.

    A workspace that is a customer of the payment processor stays until billing clears its customer id, so that nobody
    continues to pay for it. Its audit entries stay until their own retention tier ends.
    """

    name = "workspaces"

    def expired_rows(self) -> QuerySet[Workspace]:
        return workspaces_to_purge().order_by("pk")

    def deletable_rows(self) -> QuerySet[Workspace]:
        rows = self.expired_rows().filter(processor_customer_id="")
        for model in apps.get_models():
            for field in model._meta.concrete_fields:
                if field.related_model is Workspace and model._meta.app_label != Workspace._meta.app_label:
                    rows = rows.exclude(Exists(model._base_manager.filter(**{field.name: OuterRef("pk")})))
        return rows
