"""Queries of a workspace's subscription."""

from __future__ import annotations

from django.utils import timezone

from billing.models import Subscription


def subscription_of(*, workspace_id: str) -> Subscription | None:
    """Return the workspace's stored subscription; None if it never had one."""
    return Subscription.objects.exclude(status="").filter(pk=workspace_id).first()


def is_entitled(*, workspace_id: str) -> bool:
    """Return whether a subscription pays for the workspace's usage beyond its free credit."""
    subscription = subscription_of(workspace_id=workspace_id)
    return subscription is not None and subscription.entitles(timezone.now())
