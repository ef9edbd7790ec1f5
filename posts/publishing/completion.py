"""Completes the publishing of post targets in one transaction: charges or refunds, updates post groups, emits events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Prefetch, prefetch_related_objects
from django.utils import timezone

from billing.services import release_holds, settle_holds
from config.jobs.fenced_updates import FencedUpdate, update_rows
from posts.attached_media import end_group_media_protection
from posts.events import build_outcome_events
from posts.models import PostGroup, PostTarget
from posts.states import FINISHED, TargetStatus, group_status_from_targets, statuses_before
from webhooks.services import NewEvent, store_events_with_deliveries


def write_final_outcomes(outcomes: Sequence[tuple[PostTarget, Mapping[str, Any]]]) -> list[bool]:
    """Save the final outcomes of finished post targets, except for those that another worker has claimed in the meantime.

    Returns for each target whether it was saved.
    """
    with transaction.atomic():
        groups = lock_groups(target.group_id for target, _ in outcomes)
        now = timezone.now()
        written = update_rows(
            [
                FencedUpdate(target, {**changes, "updated_at": now}, statuses_before(changes["status"]))
                for target, changes in outcomes
            ]
        )
        settle_finished_targets([target for (target, _), valid in zip(outcomes, written, strict=True) if valid], groups)
    return written


def lock_groups(group_ids: Iterable[str]) -> list[PostGroup]:
    """Lock the post groups of finished post targets in a fixed order, so that publishing workers cannot deadlock."""
    return list(PostGroup.objects.filter(pk__in=set(group_ids)).order_by("pk").select_for_update())


def settle_finished_targets(targets: Sequence[PostTarget], locked: Iterable[PostGroup]) -> list[PostGroup]:
    """Charge or refund finished post targets, update the status of their post groups, and emit events; returns the groups.

    `locked` are the locked groups of the targets, and may contain others.
    """
    now = timezone.now()
    ended, group_ids = {target.pk for target in targets}, {target.group_id for target in targets}
    groups = [group for group in locked if group.pk in group_ids]
    prefetch_related_objects(groups, Prefetch("targets", PostTarget.objects.order_by("position")))
    events: list[NewEvent] = []
    for group in groups:
        was, group.status = group.status, group_status_from_targets(each.status for each in group.targets.all())
        group.updated_at, group.finished_at = now, now if group.status in FINISHED else None
        if group.finished_at:
            end_group_media_protection(group)
        changed = [each for each in group.targets.all() if each.pk in ended]
        events += build_outcome_events(group, changed, ended=group.status != was)
    changed_fields = ("status", "finished_at", "updated_at", "event_sequence")
    update_rows([FencedUpdate(group, {name: getattr(group, name) for name in changed_fields}) for group in groups])
    store_events_with_deliveries(events)
    # Last, because concurrent posts of a workspace wait for the lock on its spend counters.
    real = [target for target in targets if not target.sandbox]
    settle_holds(target_ids=[each.pk for each in real if each.status == TargetStatus.PUBLISHED])
    release_holds(target_ids=[each.pk for each in real if each.status == TargetStatus.FAILED], failed=True)
    return groups
