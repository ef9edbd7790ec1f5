"""Commits plans of post groups in one transaction: rows, media, events, audit entries and money, for every operation."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from django.db import IntegrityError, models, transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from auditlog.services import build_success_entry_writes, record_entry
from billing.services import PriceAlreadyReserved, build_money_hold_writes, run_writes_reserving_money
from config.api.errors import Conflict, IdempotencyInProgress
from config.api.idempotency import KeyedRequest
from config.db.writes import Write, build_insert_writes, write_all_or_return_failed
from config.jobs.fenced_updates import FencedUpdate, build_fenced_update_writes
from config.jobs.wake_up import wake_worker_loop_after_commit
from posts.attached_media import lock_media_of_groups, protect_media_until_group_finished, writes_that_end_media_protection
from posts.errors import PlanChanged, prefixing_error_fields_with_index
from posts.events import build_group_events
from posts.models import PostGroup, PostTarget
from posts.plan import GroupChange, Plan
from posts.services.plan_money import check_plan_against_caps, group_changes_by_capped_agent, settle_or_release_holds
from posts.states import FINISHED_GROUP_STATUSES
from webhooks.services import NewEvent, build_event_writes, wake_delivery_workers_after_commit

logger = logging.getLogger(__name__)
MAX_COMMIT_TRIES, MAX_SLOT_TRIES = 5, 100


class RowsChanged(Exception):
    """Error for a plan of posts that cannot be committed, because its rows have changed since they were read."""


class SlotTaken(Exception):
    """Error for a plan of posts that cannot be committed, because another post has taken a slot that the plan chose."""


def plan_and_commit(
    make_plan: Callable[[], Plan],
    *,
    dry_run: bool = False,
    plan_hash: str | None = None,
    audited: bool = True,
    stored_answer_writes: Callable[[Plan], Sequence[Write]] = lambda plan: (),
) -> Plan:
    """Make a plan of posts and commit it; if its rows or free slots have changed meanwhile, plan again with the new ones.

    A dry run checks the spend limits and, if it is `audited`, leaves an audit entry, but writes nothing else. `plan_hash` is
    the hash that the plan must have. `stored_answer_writes` returns the writes that store the answer for an Idempotency-Key.
    Raises PlanChanged, Conflict (the rows keep changing), IdempotencyInProgress (another request uses the key), the spend
    errors and the errors of `make_plan`.
    """
    tries_left = MAX_COMMIT_TRIES
    for _ in range(MAX_SLOT_TRIES):
        plan = make_plan()
        # A batch is checked as a whole before its posts are, so that its dry run and its real call are refused alike.
        spend_cap = check_plan_against_caps(plan) if dry_run or plan.batch else None
        if plan_hash not in (None, plan.hash):
            raise PlanChanged()
        for change in plan.changes:
            change.after.plan_hash = plan.hash
        if dry_run:
            if audited:
                _record_dry_run(plan)
            return plan.with_spend_cap(spend_cap)
        try:
            with _noticing_taken_slots(plan):
                commit_plan(plan, stored_answer_writes(plan))
        except SlotTaken:
            continue
        except RowsChanged:
            if plan.refuses_changes:
                make_plan()  # raises what now forbids the operation, if anything does
                raise Conflict(gettext_noop("Somebody else changed the group in the meantime.")) from None
            tries_left -= 1
            if not tries_left:
                break
            continue
        return plan
    raise Conflict(gettext_noop("The group keeps changing."), suggested_action="Send the request again in a moment.")


@contextmanager
def _noticing_taken_slots(plan: Plan) -> Iterator[None]:
    """Return a context manager that undoes a commit and raises SlotTaken if another post has taken a slot of the plan."""
    if not any(target.slot and target.scheduled_at for change in plan.changes for target in change.targets):
        yield
        return
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        if "target_slot_once" in str(error) or "posts_posttarget.scheduled_at" in str(error):  # PostgreSQL, SQLite
            raise SlotTaken from error
        raise


def commit_plan(plan: Plan, stored_answer_writes: Sequence[Write] = ()) -> None:
    """Commit a plan of posts, all or nothing. Raises RowsChanged, IdempotencyInProgress and the spend errors."""
    entries = build_success_entry_writes(
        caller=plan.approved_by or plan.caller,
        operation=plan.operation,
        workspace_id=plan.workspace_id,
        resource_type="post_group",
        resources={change.after.id: {**change.audit, **plan.audit} for change in plan.changes},
    )
    _commit_changes(plan.changes, [*stored_answer_writes, *entries], batch=plan.batch)


def commit_without_audit_entry(change: GroupChange) -> None:
    """Commit a change of a post group that the service makes by itself, without an audit entry. Raises RowsChanged."""
    _commit_changes([change])


def _commit_changes(changes: Sequence[GroupChange], further: Sequence[Write] = (), *, batch: bool = False) -> None:
    """Commit changes of post groups with their targets, events, media protection and money, and the writes in `further`.

    Everything is written together, in one statement on PostgreSQL, unless media are locked, money is moved that was held
    before or is held for several agents, posts of a plan leave slots, or targets are deleted: these take a transaction. Locks
    groups, media, targets and counters in this order.
    """
    for change in changes:
        change.after.event_sequence += len(change.events)
    groups, targets, events = _group_writes(changes), _target_writes(changes), _events(changes)
    rest = [*targets, *build_event_writes(events)]
    by_agent, leaving = group_changes_by_capped_agent(changes), _targets_that_leave_slots(changes)
    if len(by_agent) == 1 and not leaving and not any(map(_needs_transaction, changes)):
        _write([*further, *groups, *rest, *_hold_writes(changes)])
    else:
        with transaction.atomic():
            _write([*further, *groups])
            if batch:
                lock_media_of_groups(change.after for change in changes)
            for index, change in enumerate(changes):
                with prefixing_error_fields_with_index(index) if batch else nullcontext():
                    _protect_media(change)
                _delete_removed_targets(change)
            PostTarget.objects.filter(pk__in=leaving).update(scheduled_at=None)  # until the next write
            _write(rest)
            settle_or_release_holds(changes)
            for same_agent in by_agent:
                _write(_hold_writes(same_agent))
    for row in (row for change in changes for row in (change.after, *change.targets)):
        row._state.adding = False  # the row is stored, although its model has not saved it
    wake_delivery_workers_after_commit(events)
    now = timezone.now()
    if any(target.due_at and target.due_at <= now for change in changes for target in change.targets):
        wake_worker_loop_after_commit("publish")


def _needs_transaction(change: GroupChange) -> bool:
    stored = {target.id for target in change.targets_before}
    return bool(
        change.after.media
        or (change.before and change.before.media)
        or change.releases
        or change.settles
        or change.failures
        or stored - {target.id for target in change.targets}
    )


def _targets_that_leave_slots(changes: Sequence[GroupChange]) -> list[str]:
    """Return the ids of targets whose slots a commit must free first, so that other targets of the plan can take them.

    The database checks row by row that a slot has one target.
    """
    if len(changes) < 2:
        return []
    times = {target.id: target.scheduled_at for change in changes for target in change.targets}
    stored = [target for change in changes for target in change.targets_before]
    return [each.id for each in stored if each.slot and times.get(each.id) != each.scheduled_at]


def _write(writes: Sequence[Write]) -> None:
    """Run the database writes of a plan's commit together. Raises RowsChanged, IdempotencyInProgress and the spend errors."""
    failed = run_writes_reserving_money(writes)
    if failed is not None:
        raise IdempotencyInProgress() if isinstance(failed.subject, KeyedRequest) else RowsChanged


def _group_writes(changes: Iterable[GroupChange]) -> list[Write]:
    new = [change.after for change in changes if change.before is None]
    changed = [(change.before, change.after) for change in changes if change.before]
    return [*build_insert_writes(new), *_update_writes(changed, PostGroup.GUARD_FIELDS)]


def _target_writes(changes: Sequence[GroupChange]) -> list[Write]:
    """Return the writes by which a commit inserts new targets and updates changed ones; remaining targets keep their ids."""
    stored = {target.id: target for change in changes for target in change.targets_before}
    planned = {target.id: target for change in changes for target in change.targets}
    changed = [(stored[pk], target) for pk, target in planned.items() if pk in stored]
    return [*build_insert_writes([target for pk, target in planned.items() if pk not in stored]), *_update_writes(changed)]


def _delete_removed_targets(change: GroupChange) -> None:
    remaining = {target.id for target in change.targets}
    for removed in change.targets_before:
        guarded = PostTarget.objects.filter(pk=removed.pk, fence=removed.fence, status=removed.status)
        if removed.pk not in remaining and not guarded.delete()[0]:
            raise RowsChanged


def _events(changes: Sequence[GroupChange]) -> list[NewEvent]:
    return [
        event for change in changes for event in build_group_events(change.after, change.after.targets.all(), change.events)
    ]


def _update_writes(rows: Sequence[tuple[Any, Any]], unchanged: tuple[str, ...] = ()) -> list[Write]:
    """Return the database writes of a commit that update planned groups or targets, only in the fields that changed.

    A group, which has `unchanged` fields, is written even if it stays the same: then the plan fails if the publisher has
    finished another target of the group meanwhile, and the publisher's outcomes are written only if no plan was.
    """
    now = timezone.now()
    updates = []
    for before, after in rows:
        changes = _differences(before, after)
        if changes or unchanged:
            # A plan that takes back a retry sets the time at which the target failed again.
            at = after.updated_at if after.updated_at != before.updated_at and not unchanged else now
            after.updated_at = at
            updates.append(FencedUpdate(before, {**changes, "updated_at": at}, [before.status], unchanged))
    return build_fenced_update_writes(updates)


def _differences(before: models.Model, after: models.Model) -> Mapping[str, Any]:
    names = [each.attname for each in before._meta.concrete_fields if not each.is_relation and each.name != "updated_at"]
    return {name: getattr(after, name) for name in names if getattr(after, name) != getattr(before, name)}


def _protect_media(change: GroupChange) -> None:
    """In a commit, protect an unfinished post group's media from deletion, or end a protection no longer needed."""
    before, after = change.before, change.after
    protected = before.media if before and before.status not in FINISHED_GROUP_STATUSES else []
    wanted = after.media if after.status not in FINISHED_GROUP_STATUSES else []
    if protected and not wanted:
        write_all_or_return_failed(writes_that_end_media_protection([before or after]))
    elif wanted and protected != wanted:
        protect_media_until_group_finished(after)


def _hold_writes(changes: Sequence[GroupChange]) -> list[Write]:
    """Return the writes by which a commit reserves the prices of the planned post targets.

    They come last, because concurrent posts of a workspace wait for the lock on its spend counters.
    """
    first = changes[0]  # the others count against the caps of the same agent
    try:
        return build_money_hold_writes(
            workspace_id=first.after.workspace_id,
            agent_id=first.agent_id_for_caps,
            workspace=first.workspace,
            charges_by_due=[part for change in changes for part in change.charges_by_due],
            new=first.before is None,
        )
    except PriceAlreadyReserved as error:  # most likely somebody has released the group meanwhile
        logger.warning("%s cannot be reserved now: %s", first.after.id, error)
        raise RowsChanged from error


def _record_dry_run(plan: Plan) -> None:
    first = plan.changes[0]
    record_entry(
        caller=plan.approved_by or plan.caller,
        operation=plan.operation,
        workspace_id=plan.workspace_id,
        resource_type="post_group",
        resource_id=first.before.id if first.before and not plan.batch else "",
        dry_run=True,
        metadata={**({"posts": len(plan.changes)} if plan.batch else first.audit), **plan.audit},
    )
