"""What the payment processor's side of a workspace is: the name under which it is known there, and the tier it pays for."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import QuerySet
from django.utils import timezone

from config.api.caller import WorkspaceStatus
from workspaces.models import Workspace

OPERATORS_TIER = "enterprise"


def remember_customer(*, workspace_id: str, customer_id: str) -> str:
    """Keep the processor's customer id, unless another request was first; returns the one that stands."""
    Workspace.objects.filter(pk=workspace_id, processor_customer_id="").update(
        processor_customer_id=customer_id, updated_at=timezone.now()
    )
    return Workspace.objects.values_list("processor_customer_id", flat=True).get(pk=workspace_id)


def customers_of(workspace_ids: Iterable[str]) -> dict[str, str]:
    """The processor's customer ids by workspace, "" where it knows none."""
    rows = Workspace.objects.filter(pk__in=list(workspace_ids))
    return dict(rows.values_list("pk", "processor_customer_id"))


def workspace_of_customer(*, customer_id: str) -> str | None:
    """The workspace that the processor knows under this id."""
    return Workspace.objects.filter(processor_customer_id=customer_id).values_list("pk", flat=True).first()


def customer_workspaces(*, deleted: bool) -> QuerySet[Workspace]:
    """The workspaces that the processor knows: the deleted ones, or all others."""
    known = Workspace.objects.exclude(processor_customer_id="").order_by("pk")
    gone = {"status": WorkspaceStatus.DELETED}
    return known.filter(**gone) if deleted else known.exclude(**gone)


def forget_customers(*, workspace_ids: Iterable[str]) -> int:
    """The processor has nothing more to do with these workspaces; returns how many of them it knew.

    `updated_at` stays, since it tells when they were deleted.
    """
    rows = Workspace.objects.filter(pk__in=list(workspace_ids)).exclude(processor_customer_id="")
    return rows.update(processor_customer_id="")


def keep_tier(*, workspace_id: str, tier: str) -> None:
    """How long the workspace's audit entries are kept from now on; one that an operator has set stays."""
    Workspace.objects.filter(pk=workspace_id).exclude(retention_tier=OPERATORS_TIER).update(retention_tier=tier)
