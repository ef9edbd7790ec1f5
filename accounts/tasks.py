"""Periodic Celery tasks for connected accounts: disconnecting, renewing tokens, and deleting connection attempts."""

from __future__ import annotations

from celery import shared_task

from accounts.services import disconnect_accounts_of_deleted_workspaces, purge_attempts, renew_expiring_tokens


@shared_task
def disconnect_deleted_workspaces() -> int:
    """Celery task that disconnects the accounts of deleted workspaces and deletes their tokens and credentials."""
    return disconnect_accounts_of_deleted_workspaces()


@shared_task
def refresh_tokens_ahead() -> int:
    """Celery task that renews the OAuth tokens of connected accounts before they expire."""
    return renew_expiring_tokens()


@shared_task
def purge_connection_attempts() -> int:
    """Celery task that deletes OAuth connection attempts that have expired or whose workspace was deleted."""
    return purge_attempts()
