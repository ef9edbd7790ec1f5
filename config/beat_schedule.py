"""The schedule of Celery beat: the periodic tasks, with their intervals in seconds."""

from __future__ import annotations

from typing import Any

# Tasks keep the names of their first release, which running workers and the schedule in the database know.
BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "beat-heartbeat": {"task": "config.runtime.tasks.beat_heartbeat", "schedule": 60.0},
    "run-retention": {"task": "config.runtime.tasks.run_retention", "schedule": 3600.0},
    "tell-notices": {"task": "config.runtime.tasks.tell_notices", "schedule": 60.0},
    # Clean-up after deleted workspaces in the apps of higher layers, which poll the workspace status.
    "disconnect-deleted-workspaces": {"task": "accounts.tasks.disconnect_deleted_workspaces", "schedule": 60.0},
    "refresh-tokens-ahead": {"task": "accounts.tasks.refresh_tokens_ahead", "schedule": 60.0},
    "fetch-due-avatars": {"task": "accounts.tasks.fetch_due_avatars", "schedule": 15.0},
    "purge-connection-attempts": {"task": "accounts.tasks.purge_connection_attempts", "schedule": 60.0},
    "destroy-secrets-of-deleted": {"task": "webhooks.tasks.destroy_secrets_of_deleted_workspaces", "schedule": 60.0},
    "cancel-posts-of-deleted": {"task": "posts.tasks.cancel_posts_of_deleted", "schedule": 60.0},
    "end-subscriptions-of-deleted": {"task": "billing.tasks.end_subscriptions_of_deleted", "schedule": 60.0},
    "reconcile-billing": {"task": "billing.tasks.reconcile_at_night", "schedule": 3600.0},
    "purge-deleted-files": {"task": "media.tasks.purge_deleted_files", "schedule": 300.0},
    "purge-pending-files": {"task": "media.tasks.purge_pending_files", "schedule": 300.0},
    "purge-incoming": {"task": "media.tasks.purge_incoming", "schedule": 3600.0},
}
