"""Replays of webhook deliveries: one for a caller, or many for an operator, for example after a receiver's outage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_noop

from auditlog.services import record_entry
from config.api.caller import AgentMode, Caller, require_operator
from config.api.errors import AgentModeForbids, InvalidState, ValidationFailed, missing_or_foreign_id_error
from config.api.plan import ResourcePlan, accept_plan, row_fields
from config.jobs import wake_up
from webhooks import selectors
from webhooks.models import Delivery, DeliveryStatus
from webhooks.services.events import DELIVER_LOOP_NAME
from workspaces.models import Workspace

BATCH_SIZE = 500  # rows per transaction
MAX_PER_CALL = 10_000  # deliveries per call
REPLAY_FIELDS = ("status", "due_at", "delivered_at", "earlier_attempts", "fence", "lease_until")


@dataclass(frozen=True)
class RestartedSkippedAndLeftCounts:
    """The result of replaying webhook deliveries: how many were restarted, are being sent now, or remain for another call."""

    replayed: int
    in_flight: int
    remaining: int


def replay_delivery(*, caller: Caller, delivery_id: str, dry_run: bool = False) -> Delivery:
    """Replay a webhook delivery of any status: send it again at once, with the same body and id, and new retries.

    Raises ScopeMissing, NotFound, WorkspacePaused, AgentModeForbids, InvalidState (an attempt is in flight), PlanChanged.
    """
    found = selectors.get_delivery(caller=caller, delivery_id=delivery_id, scope="posts.publish", write=True)
    # Agents that are limited to dry runs may preview a replay.
    if caller.mode != AgentMode.ALLOW_PUBLISH and not (dry_run and caller.mode == AgentMode.DRY_RUN):
        raise AgentModeForbids()
    with transaction.atomic():
        delivery = Delivery.objects.select_for_update(of=("self",)).select_related("event").get(pk=found.pk)
        now = timezone.now()
        if delivery.is_in_flight(now):
            raise InvalidState(gettext_noop("An attempt of this delivery is in flight. Try again when it has ended."))
        before = row_fields(delivery, "event_id", "url", "status", "attempts")
        delivery.reset_for_replay_unsaved(now)
        accept_plan(ResourcePlan("webhooks.replay", delivery.id, before, {**before, "status": delivery.status}))
        if not dry_run:
            delivery.save()
            wake_up.wake_worker_loop_after_commit(DELIVER_LOOP_NAME)
        record_entry(
            caller=caller,
            operation="webhooks.replay",
            workspace_id=delivery.workspace_id,
            resource_type="webhook_delivery",
            resource_id=delivery.id,
            dry_run=dry_run,
            metadata={"event": delivery.event.kind, "post_group_id": delivery.event.post_group_id},
        )
    return delivery


def replay_deliveries_as_operator(
    *, caller: Caller, ids: Sequence[str] | None = None, workspace_id: str | None = None, dry_run: bool = False
) -> RestartedSkippedAndLeftCounts:
    """Replay webhook deliveries for an operator: those with the given ids, or those that failed for good in a workspace.

    At most MAX_PER_CALL deliveries of a workspace (its dead letters) are replayed in one call. Raises Forbidden (not an
    operator), ValidationFailed naming unknown `ids` or the unknown `workspace_id`, PlanChanged.
    """
    require_operator(caller)
    if ids is not None:
        wanted = Delivery.objects.filter(pk__in=_existing(ids))
    else:
        if not Workspace.objects.filter(pk=workspace_id).exists():
            raise missing_or_foreign_id_error("workspace_id", "workspace")
        wanted = Delivery.objects.filter(workspace_id=workspace_id, status=DeliveryStatus.DEAD_LETTER)
    idle = dict(_idle(wanted).values_list("pk", "workspace_id")[:MAX_PER_CALL])
    accept_plan(ResourcePlan("ops.replay_deliveries", workspace_id or "", None, {"deliveries": list(idle)}))
    replayed = Counter(idle.values()) if dry_run else _replay(wanted, list(idle), caller)
    total = replayed.total()
    if dry_run or not total:
        _record(caller, replayed or Counter({workspace_id or "": 0}), dry_run=dry_run)
    if ids is not None:
        return RestartedSkippedAndLeftCounts(total, len(set(ids)) - total, 0)
    return RestartedSkippedAndLeftCounts(total, 0, wanted.count() - (total if dry_run else 0))


def _existing(ids: Sequence[str]) -> list[str]:
    found = set(Delivery.objects.filter(pk__in=ids).values_list("pk", flat=True))
    if unknown := [index for index, each in enumerate(ids) if each not in found]:
        raise ValidationFailed(
            details=[
                {"field": f"ids[{index}]", "code": "not_found", "message": "This delivery does not exist."}
                for index in unknown
            ]
        )
    return sorted(found)


def _idle(deliveries: QuerySet[Delivery]) -> QuerySet[Delivery]:
    """Exclude deliveries that a worker is sending now from a query of webhook deliveries to replay."""
    return deliveries.filter(Q(lease_until=None) | Q(lease_until__lte=timezone.now())).order_by("pk")


def _replay(wanted: QuerySet[Delivery], ids: Sequence[str], caller: Caller) -> Counter[str]:
    """Replay the webhook deliveries with these ids that match the query `wanted`, in one transaction for each batch.

    Returns how many were replayed in each workspace.
    """
    replayed: Counter[str] = Counter()
    for start in range(0, len(ids), BATCH_SIZE):
        batch = wanted.filter(pk__in=ids[start : start + BATCH_SIZE])
        replayed.update(row.workspace_id for row in _replay_batch(batch, caller))
    return replayed


@transaction.atomic
def _replay_batch(wanted: QuerySet[Delivery], caller: Caller) -> list[Delivery]:
    now = timezone.now()
    rows = list(_idle(wanted).select_for_update(skip_locked=True, of=("self",)))
    for row in rows:
        row.reset_for_replay_unsaved(now)
    Delivery.objects.bulk_update(rows, REPLAY_FIELDS)
    _record(caller, Counter(row.workspace_id for row in rows), dry_run=False)
    wake_up.wake_worker_loop_after_commit(DELIVER_LOOP_NAME)
    return rows


def _record(caller: Caller, replayed: Counter[str], *, dry_run: bool) -> None:
    for workspace_id, number in replayed.items():
        record_entry(
            caller=caller,
            operation="ops.replay_deliveries",
            workspace_id=workspace_id,
            resource_type="webhook_delivery",
            dry_run=dry_run,
            metadata={"replayed": number},
        )
