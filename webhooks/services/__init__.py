"""The package of webhook services: store events, replay deliveries, and manage signing secrets."""

from __future__ import annotations

from webhooks.services.events import (
    NewEvent,
    build_event_writes,
    store_event_without_delivery,
    store_events_with_deliveries,
    wake_delivery_workers_after_commit,
)
from webhooks.services.replays import replay_deliveries_as_operator, replay_delivery
from webhooks.services.signing_secrets import (
    destroy_secrets_of_deleted_workspaces,
    get_or_create_and_audit_signing_secret,
    get_or_create_secrets_by_workspace_id,
    rotate_signing_secret_of_workspace,
)
