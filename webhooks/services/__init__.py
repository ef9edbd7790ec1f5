"""Services that emit events, send and replay deliveries, and manage signing secrets."""

from __future__ import annotations

from webhooks.services.bulk_replays import ReplayCounts, replay_deliveries
from webhooks.services.deliveries import deliver_due
from webhooks.services.events import NewEvent, emit_many, store_subject_event
from webhooks.services.replays import replay_delivery
from webhooks.services.signing_secrets import (
    destroy_secrets_of_deleted_workspaces,
    read_signing_secret,
    rotate_signing_secret,
)
