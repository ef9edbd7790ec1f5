"""The periodic Celery tasks of billing."""

from __future__ import annotations

from celery import shared_task

from billing import services


@shared_task(name="billing.tasks.end_subscriptions_of_deleted")
def cancel_subscriptions_of_deleted_workspaces() -> int:
    """Celery task: cancel the subscriptions of deleted workspaces at the payment processor."""
    return services.cancel_subscriptions_of_deleted_workspaces()


@shared_task
def reconcile_at_night() -> None:
    """Celery task, called every hour: reconcile billing with the payment processor at night or after an incomplete run.

    It updates subscriptions, and raises alarms for other differences.
    """
    services.reconcile_if_night_or_incomplete()
