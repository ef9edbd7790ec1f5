"""Under which name the payment processor knows a workspace."""

from __future__ import annotations

from django.utils import timezone

from workspaces.models import Workspace


def remember_customer(*, workspace_id: str, customer_id: str) -> str:
    """Keep the processor's customer id, unless another request was first; returns the one that stands."""
    Workspace.objects.filter(pk=workspace_id, processor_customer_id="").update(
        processor_customer_id=customer_id, updated_at=timezone.now()
    )
    return Workspace.objects.values_list("processor_customer_id", flat=True).get(pk=workspace_id)
