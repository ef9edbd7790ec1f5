"""The Celery task for webhook signing secrets."""

from __future__ import annotations

from celery import shared_task

from webhooks import services


@shared_task
def destroy_secrets_of_deleted_workspaces() -> int:
    """Celery task: destroy the webhook signing secrets of deleted workspaces."""
    return services.destroy_secrets_of_deleted_workspaces()
