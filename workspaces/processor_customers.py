"""Saves the workspaces' customer ids at the payment processor, and how long each workspace's audit log is kept."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Q, QuerySet
from django.utils import timezone

from config.api.caller import WorkspaceStatus
from workspaces.models import Workspace

OPERATOR_TIER = "enterprise"


def save_customer_id_if_unset(*, workspace_id: str, customer_id: str) -> str:
    """Save the workspace's customer id at the payment processor, or keep one that is already stored; returns the kept id."""
    Workspace.objects.filter(pk=workspace_id, processor_customer_id="").update(
        processor_customer_id=customer_id, updated_at=timezone.now()
    )
    return Workspace.objects.values_list("processor_customer_id", flat=True).get(pk=workspace_id)


def customer_id_by_workspace_id(workspace_ids: Iterable[str]) -> dict[str, str]:
    """Return each workspace's customer id at the payment processor; "" for workspaces without a customer id."""
    rows = Workspace.objects.filter(pk__in=list(workspace_ids))
    return dict(rows.values_list("pk", "processor_customer_id"))


def workspace_id_of_customer(*, customer_id: str) -> str | None:
    """Return the id of the workspace with this customer id at the payment processor; None if there is no such workspace."""
    return Workspace.objects.filter(processor_customer_id=customer_id).values_list("pk", flat=True).first()


def workspaces_having_customer_id(*, deleted: bool) -> QuerySet[Workspace]:
    """Return the workspaces with a customer id at the payment processor: either the deleted ones or all others."""
    customers = Workspace.objects.exclude(processor_customer_id="").order_by("pk")
    is_deleted = Q(status=WorkspaceStatus.DELETED)
    return customers.filter(is_deleted if deleted else ~is_deleted)


def clear_customer_ids(*, workspace_ids: Iterable[str]) -> int:
    """Clear the workspaces' customer ids at the payment processor; returns how many workspaces had a customer id.

    `updated_at` does not change, because it says when they were deleted.
    """
    rows = Workspace.objects.filter(pk__in=list(workspace_ids)).exclude(processor_customer_id="")
    return rows.update(processor_customer_id="")


def set_audit_retention_tier(*, workspace_id: str, tier: str) -> None:
    """Save how long a payment processor customer's workspace keeps its audit log; the tier `enterprise` is kept.

    Operators set the tier `enterprise`.
    """
    Workspace.objects.filter(pk=workspace_id).exclude(retention_tier=OPERATOR_TIER).update(retention_tier=tier)
