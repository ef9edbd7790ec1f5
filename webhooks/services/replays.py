"""Replays a single webhook delivery."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from auditlog.services import record
from config.api.caller import AgentMode, Caller
from config.api.errors import AgentModeForbids, InvalidState
from config.jobs import wake_up
from webhooks import selectors
from webhooks.models import Delivery
from webhooks.services.events import LOOP_NAME


def replay_delivery(*, caller: Caller, delivery_id: str, dry_run: bool = False) -> Delivery:
    """Replay a webhook delivery of any status: it is due at once, with the same body and id, and a new retry schedule.

    Raises ScopeMissing, NotFound, WorkspacePaused, AgentModeForbids, InvalidState (an attempt is in flight).
    """
    found = selectors.get_delivery(caller=caller, delivery_id=delivery_id, scope="posts.publish", write=True)
    _require_mode(caller, dry_run)
    with transaction.atomic():
        delivery = Delivery.objects.select_for_update(of=("self",)).select_related("event").get(pk=found.pk)
        now = timezone.now()
        if delivery.is_in_flight(now):
            raise InvalidState("An attempt of this delivery is in flight. Try again when it has ended.")
        delivery.reset_for_replay(now)
        if not dry_run:
            delivery.save()
            wake_up.wake(LOOP_NAME)
        record(
            caller=caller,
            operation="webhooks.replay",
            workspace_id=delivery.workspace_id,
            resource_type="webhook_delivery",
            resource_id=delivery.id,
            dry_run=dry_run,
            metadata={"event": delivery.event.kind, "post_group_id": delivery.event.post_group_id},
        )
    return delivery


def _require_mode(caller: Caller, dry_run: bool) -> None:
    """Check an agent's mode: a replay needs allow_publish; agents limited to dry runs may preview a replay."""
    if caller.mode != AgentMode.ALLOW_PUBLISH and not (dry_run and caller.mode == AgentMode.DRY_RUN):
        raise AgentModeForbids()
