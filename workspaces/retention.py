"""Workspaces that were deleted long enough ago, and their end."""

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
    """The workspaces whose time of grace is over (DELETED_WORKSPACE_DAYS). Each app purges what of its own they hold."""
    over = timezone.now() - timedelta(days=settings.DELETED_WORKSPACE_DAYS)
    # Nothing changes a deleted workspace any more, so this is when it was deleted.
    return Workspace.objects.filter(status=WorkspaceStatus.DELETED, updated_at__lte=over)


class PurgedWorkspaces(ExpiredRows):
    """The workspaces themselves, with their members, once nothing of a higher floor refers to them.

    One that the payment processor still knows stays until billing has let go of its customer: only so is it sure that
    nobody goes on paying. Its entries in the audit log outlive it, each by its own tier.
    """

    name = "workspaces"

    def rows(self) -> QuerySet[Workspace]:
        return workspaces_to_purge().order_by("pk")

    def ready(self) -> QuerySet[Workspace]:
        rows = self.rows().filter(processor_customer_id="")
        for model in apps.get_models():
            for field in model._meta.concrete_fields:
                if field.related_model is Workspace and model._meta.app_label != Workspace._meta.app_label:
                    rows = rows.exclude(Exists(model._base_manager.filter(**{field.name: OuterRef("pk")})))
        return rows
