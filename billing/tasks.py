"""What the beat has done about billing."""

from __future__ import annotations

from celery import shared_task

from billing import services


@shared_task
def end_subscriptions_of_deleted() -> int:
    """End the subscriptions of deleted workspaces at the payment processor."""
    return services.end_subscriptions_of_deleted_workspaces()


@shared_task
def reconcile_at_night() -> None:
    """Once a night, compare what is known with the payment processor's truth, and the books with themselves."""
    services.reconcile_at_night()
