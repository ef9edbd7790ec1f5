"""What the beat has done with connected accounts."""

from __future__ import annotations

from celery import shared_task

from accounts.services import disconnect_accounts_of_deleted_workspaces


@shared_task
def disconnect_deleted_workspaces() -> int:
    """Destroy the tokens and credentials of deleted workspaces."""
    return disconnect_accounts_of_deleted_workspaces()
