"""The ends of targets: their rows, the money, their groups' roll-up and the events, in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Prefetch, prefetch_related_objects
from django.utils import timezone

from billing.services import release_many, settle_many
from config.jobs.fenced_updates import Write, update_rows
from posts.events import outcome_events
from posts.media import let_go_of_media
from posts.models import PostGroup, PostTarget
from posts.states import FINISHED, TargetStatus, before, roll_up
from webhooks.services import NewEvent, emit_many


def write_ends(ends: Sequence[tuple[PostTarget, Mapping[str, Any]]]) -> list[bool]:
    """Write the ends of targets, each with what changes of its row; of each, whether its claim still stood."""
    with transaction.atomic():
        groups = lock_groups(target.group_id for target, _ in ends)
        now = timezone.now()
        written = update_rows(
            [Write(target, {**changes, "updated_at": now}, before(changes["status"])) for target, changes in ends]
        )
        close_targets([target for (target, _), stood in zip(ends, written, strict=True) if stood], groups)
    return written


def lock_groups(group_ids: Iterable[str]) -> list[PostGroup]:
    """The groups, their rows locked in one order: targets that end at once roll up one after the other."""
    return list(PostGroup.objects.filter(pk__in=set(group_ids)).order_by("pk").select_for_update())


def close_targets(targets: Sequence[PostTarget], locked: Iterable[PostGroup]) -> list[PostGroup]:
    """What follows from the ends of targets: their money, their groups' roll-up and the events; the groups as they stand.

    `locked` are their groups, and may be more.
    """
    now = timezone.now()
    ended, group_ids = {target.pk for target in targets}, {target.group_id for target in targets}
    groups = [group for group in locked if group.pk in group_ids]
    prefetch_related_objects(groups, Prefetch("targets", PostTarget.objects.order_by("position")))
    told: list[NewEvent] = []
    for group in groups:
        was, group.status = group.status, roll_up(each.status for each in group.targets.all())
        group.updated_at, group.finished_at = now, now if group.status in FINISHED else None
        if group.finished_at:
            let_go_of_media(group)
        changed = [each for each in group.targets.all() if each.pk in ended]
        told += outcome_events(group, changed, ended=group.status != was)
    changed_fields = ("status", "finished_at", "updated_at", "event_sequence")
    update_rows([Write(group, {name: getattr(group, name) for name in changed_fields}) for group in groups])
    emit_many(told)
    # Last, since all who publish for a workspace wait for each other at its counters.
    real = [target for target in targets if not target.sandbox]
    settle_many(target_ids=[each.pk for each in real if each.status == TargetStatus.PUBLISHED])
    release_many(target_ids=[each.pk for each in real if each.status == TargetStatus.FAILED], failed=True)
    return groups
