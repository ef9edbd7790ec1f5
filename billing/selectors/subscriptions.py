"""Reads: how a workspace stands with the payment processor."""

from __future__ import annotations

from django.utils import timezone

from billing.models import Subscription


def subscription_of(*, workspace_id: str) -> Subscription | None:
    """The workspace's subscription as the processor told last; None when it has never had one."""
    return Subscription.objects.exclude(status="").filter(pk=workspace_id).first()


def is_entitled(*, workspace_id: str) -> bool:
    """Whether a subscription pays for what the workspace uses beyond its free credit."""
    subscription = subscription_of(workspace_id=workspace_id)
    return subscription is not None and subscription.entitles(timezone.now())
