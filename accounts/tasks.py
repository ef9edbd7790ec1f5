"""Periodic Celery tasks for accounts: disconnecting, renewing tokens, fetching pictures, deleting connection attempts."""

from __future__ import annotations

from celery import shared_task

from accounts import services


@shared_task(name="accounts.tasks.disconnect_deleted_workspaces")
def disconnect_accounts_of_deleted_workspaces() -> int:
    """Celery task that disconnects the accounts of deleted workspaces and deletes their tokens and credentials."""
    return services.disconnect_accounts_of_deleted_workspaces()


@shared_task(name="accounts.tasks.refresh_tokens_ahead")
def renew_expiring_tokens() -> int:
    """Celery task that renews the OAuth tokens of connected accounts before they expire."""
    return services.renew_expiring_tokens()


@shared_task
def fetch_due_avatars() -> int:
    """Celery task that fetches the profile pictures of newly connected accounts, and fetches each again after a week."""
    return services.fetch_due_avatars()


@shared_task
def purge_connection_attempts() -> int:
    """Celery task that deletes OAuth connection attempts that have expired or whose workspace was deleted."""
    return services.purge_connection_attempts()
