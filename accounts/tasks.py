"""What the beat has done with connected accounts."""

from __future__ import annotations

from celery import shared_task

from accounts.services import disconnect_accounts_of_deleted_workspaces, purge_attempts, refresh_ahead


@shared_task
def disconnect_deleted_workspaces() -> int:
    """Destroy the tokens and credentials of deleted workspaces."""
    return disconnect_accounts_of_deleted_workspaces()


@shared_task
def refresh_tokens_ahead() -> int:
    """Renew the tokens that end soon."""
    return refresh_ahead()


@shared_task
def purge_connection_attempts() -> int:
    """Delete the connections that were begun and not completed in time."""
    return purge_attempts()
