"""Commits plans of post groups in one transaction: rows, media, events, audit entries and money, for every operation."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.db import models, transaction
from django.utils import timezone

from auditlog.services import record_entries, record_entry
from billing import selectors as billing
from billing.caps import SpendCapStatus, utc_day_of
from billing.services import hold_costs, lock_month_counters, release_holds, settle_holds
from config.api.errors import Conflict
from config.jobs.fenced_updates import FencedUpdate, update_rows
from config.jobs.wake_up import wake_worker_loop_after_commit
from posts.attached_media import end_group_media_protection, lock_media_of_groups, protect_group_media_from_deletion
from posts.errors import PlanChanged, naming_post_in_errors
from posts.events import build_group_event
from posts.models import PostGroup, PostTarget
from posts.plan import GroupChange, Plan
from posts.states import FINISHED
from webhooks.services import store_events_with_deliveries

MAX_TRIES = 5
GROUP_GUARDS = ("content_version", "event_sequence")


class RowsChanged(Exception):
    """Error for a plan that cannot be committed, because somebody has changed its rows since they were read."""


def plan_and_commit(
    make_plan: Callable[[], Plan], *, dry_run: bool = False, plan_hash: str | None = None, audited: bool = True
) -> Plan:
    """Make a plan and commit it; if its rows have changed meanwhile, plan again with the new rows.

    A dry run checks the spend limits and, if it is `audited`, leaves an audit entry, but writes nothing else. `plan_hash` is
    the hash that the plan must have. Raises PlanChanged, Conflict (the rows keep changing), the spend errors and the errors
    of `make_plan`.
    """
    for _ in range(MAX_TRIES):
        plan = make_plan()
        # A batch is checked as a whole before its posts are, so that its dry run and its real call are refused alike.
        spend_cap = _check_spending(plan) if dry_run or plan.batch else None
        if plan_hash not in (None, plan.hash):
            raise PlanChanged()
        for change in plan.changes:
            change.after.plan_hash = plan.hash
        if dry_run:
            if audited:
                _record_dry_run(plan)
            return plan.with_spend_cap(spend_cap)
        try:
            commit(plan)
        except RowsChanged:
            if plan.refuses_changes:
                make_plan()  # raises what now forbids the operation, if anything does
                raise Conflict("Somebody else changed the group in the meantime.") from None
            continue
        return plan
    raise Conflict("The group keeps changing.", suggested_action="Send the request again in a moment.")


def commit(plan: Plan) -> None:
    """Write what the plan says, all or nothing. Raises RowsChanged and the spend errors."""
    with transaction.atomic():
        _write_rows(plan.changes, batch=plan.batch)
        record_entries(
            caller=plan.approved_by or plan.caller,
            operation=plan.operation,
            workspace_id=plan.workspace_id,
            resource_type="post_group",
            resources={change.after.id: {**change.audit, **plan.audit} for change in plan.changes},
        )
        _move_money(plan.changes)


def write_unaudited(change: GroupChange) -> None:
    """Write a change that the service makes by itself. Raises RowsChanged."""
    with transaction.atomic():
        _write_rows([change])
        _move_money([change])


def _write_rows(changes: Sequence[GroupChange], *, batch: bool = False) -> None:
    """Write the rows of post groups with their media and events. Locks groups, media and targets in this order."""
    for change in changes:
        change.after.event_sequence += len(change.events)
    _write_groups(changes)
    if batch:
        lock_media_of_groups(change.after for change in changes)
    for index, change in enumerate(changes):
        with naming_post_in_errors(index) if batch else nullcontext():
            _protect_media(change)
    _write_targets(changes)
    store_events_with_deliveries(
        [
            build_group_event(
                change.after, kind, target_id, sequence=change.after.event_sequence - len(change.events) + place
            )
            for change in changes
            for place, (kind, target_id) in enumerate(change.events, 1)
        ]
    )
    now = timezone.now()
    if any(target.due_at and target.due_at <= now for change in changes for target in change.targets):
        wake_worker_loop_after_commit("publish")


def _write_groups(changes: Iterable[GroupChange]) -> None:
    new = [change.after for change in changes if change.before is None]
    if new:
        PostGroup.objects.bulk_create(new)
    _update([(change.before, change.after) for change in changes if change.before], GROUP_GUARDS)


def _write_targets(changes: Sequence[GroupChange]) -> None:
    """Insert, update and delete the targets of post groups; targets that remain keep their ids."""
    stored = {target.id: target for change in changes for target in change.targets_before}
    planned = {target.id: target for change in changes for target in change.targets}
    for removed in stored.keys() - planned.keys():
        guarded = PostTarget.objects.filter(pk=removed, fence=stored[removed].fence, status=stored[removed].status)
        if not guarded.delete()[0]:
            raise RowsChanged
    _update([(stored[pk], target) for pk, target in planned.items() if pk in stored])
    new = [target for pk, target in planned.items() if pk not in stored]
    if new:
        PostTarget.objects.bulk_create(new)


def _update(rows: Sequence[tuple[Any, Any]], unchanged: tuple[str, ...] = ()) -> None:
    """Write the fields in which the second row of each pair differs from the first, the stored one. Raises RowsChanged."""
    now = timezone.now()
    writes = []
    for before, after in rows:
        if changes := _differences(before, after):
            after.updated_at = now
            stored = copy.copy(before)  # `update_rows` changes its rows in memory too
            writes.append(FencedUpdate(stored, {**changes, "updated_at": now}, [before.status], unchanged))
    if writes and not all(update_rows(writes)):
        raise RowsChanged


def _differences(before: models.Model, after: models.Model) -> Mapping[str, Any]:
    names = [each.attname for each in before._meta.concrete_fields if not each.is_relation and each.name != "updated_at"]
    return {name: getattr(after, name) for name in names if getattr(after, name) != getattr(before, name)}


def _protect_media(change: GroupChange) -> None:
    """Protect the media of an unfinished post group from deletion, and end the protection of others."""
    before, after = change.before, change.after
    protected = before.media if before and before.status not in FINISHED else []
    wanted = after.media if after.status not in FINISHED else []
    if protected and not wanted:
        end_group_media_protection(before or after)
    elif wanted and protected != wanted:
        protect_group_media_from_deletion(after)


def _move_money(changes: Sequence[GroupChange]) -> None:
    """Settle, release and reserve the prices of targets.

    Comes last, because concurrent posts of a workspace wait for the lock on its spend counters. Days are in order, so that
    concurrent batches lock the counters in one order and cannot deadlock.
    """
    for change in changes:
        released = _real_ids(change.releases)
        if released and change.charges:
            lock_month_counters(
                target_ids=released, workspace_id=change.after.workspace_id, agent_id=change.paying_agent_id, due=change.due
            )
        settle_holds(target_ids=_real_ids(change.settles))
        release_holds(target_ids=released, failed=False)
        release_holds(target_ids=_real_ids(change.failures), failed=True)
    paying = sorted((change for change in changes if change.charges), key=attrgetter("due"))
    for _, of_day in groupby(paying, key=lambda change: utc_day_of(change.due)):
        first, *others = of_day
        hold_costs(
            workspace_id=first.after.workspace_id,
            agent_id=first.paying_agent_id,
            charges=[*first.charges, *(charge for change in others for charge in change.charges)],
            due=first.due,
            new=first.before is None,
        )


def _real_ids(targets: Iterable[PostTarget]) -> list[str]:
    """Return the ids of targets outside the sandbox, which costs nothing."""
    return [target.id for target in targets if not target.sandbox]


def _check_spending(plan: Plan) -> SpendCapStatus:
    """Check the prices of a plan against all caps, without reserving them. Raises the spend errors."""
    return billing.check_charges_by_due_time(
        workspace_id=plan.workspace_id,
        agent_id=plan.changes[0].paying_agent_id,
        parts=[(change.due, change.charges) for change in plan.changes],
        instead_of=[pk for change in plan.changes for pk in _real_ids(change.releases)],
    )


def _record_dry_run(plan: Plan) -> None:
    first = plan.changes[0]
    record_entry(
        caller=plan.approved_by or plan.caller,
        operation=plan.operation,
        workspace_id=plan.workspace_id,
        resource_type="post_group",
        resource_id=first.before.id if first.before else "",
        dry_run=True,
        metadata={"posts": len(plan.changes)} if plan.batch else {**first.audit, **plan.audit},
    )
