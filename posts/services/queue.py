"""Changes of a queue, the posts that are scheduled to one account: shuffle them, move all of them, or skip a week.

Each is one plan with an edit of each post that moves, which is checked and committed like the edits of `update_post`.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext_noop

from accounts.local_time import first_instant_at_local_time
from accounts.models import ConnectedAccount
from config.api.caller import Caller, check_account_allowlist, requested_or_own_workspace_id, require_access
from config.api.errors import InvalidState, ValidationFailed, missing_or_foreign_id_error
from posts import selectors
from posts.content import PostEdit
from posts.day_lists import SHOWN_AT, targets_shown_in_calendar
from posts.errors import prefixing_error_fields
from posts.models import PostGroup, PostTarget, StoredPlan
from posts.plan import Plan
from posts.plan_building import WRITE_SCOPES
from posts.services.changes import is_unattempted_target
from posts.services.commit import plan_and_commit
from posts.services.stored_plans import get_stored_plan
from posts.services.target_moves import TargetTime, edit_that_moves_targets, target_inputs_with_times
from posts.services.update import plan_change_of_group
from posts.slot_choice import FreeSlots
from posts.states import TargetStatus
from posts.target_times import MAX_SCHEDULE_AHEAD

OPERATION = "posts.update_queue"
MAX_MOVED_POSTS = 100
DAYS_OF_WEEK = 7
Moves = Mapping[str, TargetTime]  # by the target's id


@dataclass(frozen=True)
class RequestedQueueChange:
    """A change of an account's queue, which is the posts scheduled to it: `shuffle`, `move` or `skip_week`.

    Only with posts at or after `after` and before `before`, and only with those in `post_group_ids`, if these are given.
    `seed` chooses another order of a shuffle. `days`, `hours` and `minutes` say by how much posts move. `week` is a day of
    the week to skip, by default of this week.
    """

    connected_account_id: str
    action: str
    workspace_id: str | None = None
    post_group_ids: Sequence[str] = ()
    after: datetime | None = None
    before: datetime | None = None
    seed: int | None = None
    days: int = 0
    hours: int = 0
    minutes: int = 0
    week: date | None = None

    def start_and_end_of_week_to_skip(self, zone: ZoneInfo) -> tuple[datetime, datetime]:
        """Return when the week of this RequestedQueueChange begins and ends, from Monday in the workspace's time zone."""
        day = self.week or timezone.now().astimezone(zone).date()
        monday = datetime.combine(day - timedelta(days=day.weekday()), datetime.min.time())
        return first_instant_at_local_time(monday, zone), first_instant_at_local_time(
            monday + timedelta(days=DAYS_OF_WEEK), zone
        )

    def shift_time(self, at: datetime, zone: ZoneInfo) -> datetime:
        """Return the new time of a post that this RequestedQueueChange moves; a move by days keeps the local time of day."""
        if self.days:
            local = at.astimezone(zone).replace(tzinfo=None, fold=0) + timedelta(days=self.days)
            at = first_instant_at_local_time(local, zone)
        return at + timedelta(hours=self.hours, minutes=self.minutes)


@dataclass
class QueueToChange:
    """The scheduled targets of an account that a change of its queue concerns, earliest first, with their post groups."""

    account: ConnectedAccount
    targets: list[PostTarget]
    groups: dict[str, PostGroup] = field(default_factory=dict)


def update_queue(
    *, caller: Caller, change: RequestedQueueChange, dry_run: bool = False, plan_hash: str | None = None
) -> Plan:
    """Change the queue of an account: shuffle, move or skip the posts scheduled to it, all of them or none.

    Raises ScopeMissing, WorkspacePaused, ValidationFailed, InvalidState (there is nothing to change), PlanChanged, and the
    errors of `update_post`; the fields of their details begin with the id of the post.
    """
    return plan_and_commit(lambda: plan_queue_change(caller, change, dry_run=dry_run), dry_run=dry_run, plan_hash=plan_hash)


def plan_queue_change(caller: Caller, change: RequestedQueueChange, *, dry_run: bool = False) -> Plan:
    """Plan a change of a queue, with the errors of `update_queue` except the spend errors."""
    workspace_id = requested_or_own_workspace_id(caller, change.workspace_id)
    require_access(caller, workspace_id, WRITE_SCOPES, body_field="workspace_id")
    account = _account(workspace_id, change.connected_account_id)
    check_account_allowlist(caller, [account.id])
    zone = ZoneInfo(account.workspace.default_timezone)
    queue = _queue(account, change, zone)
    match change.action:
        case "shuffle":
            moves = _shuffled(queue.targets, change.seed)
        case "move":
            moves = {each.id: TargetTime(change.shift_time(_time_of(each), zone), slot=False) for each in queue.targets}
        case _:
            free = FreeSlots(after=change.start_and_end_of_week_to_skip(zone)[1])
            moves = {each.id: TargetTime(free.choose_next_or_raise(account, "action"), slot=True) for each in queue.targets}
    if not moves:
        raise InvalidState(
            gettext_noop("There are no posts to shuffle.")
            if change.action == "shuffle"
            else gettext_noop("There are no posts to move."),
            suggested_action="GET /posts shows what is scheduled to the account.",
        )
    edits = [
        (queue.groups[each.group_id], edit_that_moves_targets(queue.groups[each.group_id], [each], moves[each.id]))
        for each in queue.targets
        if each.id in moves
    ]
    audit = {"account_id": account.id, "action": change.action}
    return _plan_of_edits(caller, workspace_id, edits, audit, dry_run=dry_run)


def next_queued_targets(account: ConnectedAccount) -> QuerySet[PostTarget]:
    """Return the next 100 targets in the queue of an account, earliest first, with their post groups."""
    now = timezone.now()
    return _scheduled_targets(account, now, now + 2 * MAX_SCHEDULE_AHEAD).select_related("group")[:MAX_MOVED_POSTS]


def undo_queue_change(*, caller: Caller, plan_id: str) -> Plan:
    """Undo a committed stored plan of a queue change: give its posts their former times again, all of them or none.

    Raises NotFound, ScopeMissing, and InvalidState, Conflict or ValidationFailed if this is not possible any more.
    """
    stored = get_stored_plan(caller=caller, plan_id=plan_id)
    if stored.operation != OPERATION:
        raise missing_or_foreign_id_error(None, "plan")
    return plan_and_commit(lambda: _plan_of_times_before(caller, stored))


def _plan_of_times_before(caller: Caller, stored: StoredPlan) -> Plan:
    groups = selectors.groups_prefetching_targets().filter(workspace_id=stored.workspace_id).in_bulk(stored.result_ids or [])
    edits = []
    for planned in stored.content["posts"]:
        group, before = groups.get(planned["post_group_id"]), planned["before"]
        if group is None or group.plan_hash != stored.hash:
            raise InvalidState(gettext_noop("One of the posts was changed since."))
        times = {
            each["connected_account_id"]: TargetTime(parse_datetime(each["moment"] or before["moment"]), each["slot"])
            for each in before["targets"]
            if each["moment"] or before["moment"]
        }
        moment = parse_datetime(before["moment"]) if before["moment"] else None
        edits.append((group, PostEdit(scheduled_at=moment, targets=target_inputs_with_times(group, times))))
    return _plan_of_edits(caller, stored.workspace_id, edits, {"action": "undo"}, dry_run=False)


def _plan_of_edits(
    caller: Caller,
    workspace_id: str,
    edits: Sequence[tuple[PostGroup, PostEdit]],
    audit: Mapping[str, Any],
    *,
    dry_run: bool,
) -> Plan:
    """Return the plan that changes an account's queue by the given edits, one for each post."""
    free = FreeSlots(own=[target.id for group, _ in edits for target in group.targets.all()])
    changes = []
    for group, edit in edits:
        with prefixing_error_fields(group.id):
            changes.append(plan_change_of_group(caller, group, edit, dry_run=dry_run, free=free))
    return Plan(OPERATION, caller, workspace_id, changes, batch=True, audit=audit)


def _account(workspace_id: str, account_id: str) -> ConnectedAccount:
    account = ConnectedAccount.objects.select_related("workspace").filter(workspace_id=workspace_id, pk=account_id).first()
    if account is None:
        raise ValidationFailed.for_field("connected_account_id", gettext_noop("This account does not exist."), "not_found")
    return account


def _queue(account: ConnectedAccount, change: RequestedQueueChange, zone: ZoneInfo) -> QueueToChange:
    """Return the targets of a queue that a change concerns. Raises ValidationFailed if a named post is not among them."""
    now = timezone.now()
    begin, end = change.after or now, change.before or now + 2 * MAX_SCHEDULE_AHEAD
    if change.action == "skip_week":
        week = change.start_and_end_of_week_to_skip(zone)
        begin, end = max(begin, week[0]), min(end, week[1])
    rows = _scheduled_targets(account, max(begin, now), end)
    if change.post_group_ids:
        rows = rows.filter(group__in=change.post_group_ids)
    found = list(rows.values_list("pk", "group_id")[: MAX_MOVED_POSTS + 1])
    if len(found) > MAX_MOVED_POSTS:
        message = f"More than {MAX_MOVED_POSTS} posts are scheduled to the account. Name some of them, or a time before."
        raise ValidationFailed.for_field("before", message, "too_many")
    groups = selectors.groups_prefetching_targets().in_bulk([group_id for _, group_id in found])
    by_id = {target.id: target for group in groups.values() for target in group.targets.all()}
    targets = [by_id[pk] for pk, _ in found if pk in by_id and is_unattempted_target(by_id[pk])]
    scheduled = {target.group_id for target in targets}
    for index, group_id in enumerate(change.post_group_ids):
        if group_id not in scheduled:
            message = gettext_noop("This post is not scheduled to the account at these times.")
            raise ValidationFailed.for_field(f"post_group_ids[{index}]", message, "not_found")
    return QueueToChange(account, targets, groups)


def _scheduled_targets(account: ConnectedAccount, begin: datetime, end: datetime) -> QuerySet[PostTarget]:
    """Return the targets in an account's queue: scheduled for a time and never attempted, earliest first."""
    rows = targets_shown_in_calendar(account.workspace_id, (begin, end), account_id=account.id)
    return rows.filter(status=TargetStatus.PENDING, attempts=0, scheduled_at__isnull=False).order_by(SHOWN_AT, "pk")


def _shuffled(targets: Sequence[PostTarget], seed: int | None) -> Moves:
    """Shuffle a queue: return the new times of targets that move, by id; with two or more targets, the order changes.

    The order depends only on the seed, by default on the times that the posts have now. So a preview shows what a later call
    does, and shuffling again makes another order.
    """
    if len(targets) < 2:
        return {}
    now = " ".join(f"{each.id} {_time_of(each).isoformat()}" for each in targets) if seed is None else str(seed)
    for attempt in itertools.count():
        order = sorted(targets, key=lambda each: hashlib.sha256(f"{now} {attempt} {each.id}".encode()).digest())
        if order != list(targets):
            break
    pairs = [(each, TargetTime(place.scheduled_at, place.slot)) for each, place in zip(order, targets, strict=True)]
    return {each.id: to for each, to in pairs if to != (each.scheduled_at, each.slot)}


def _time_of(target: PostTarget) -> datetime:
    assert target.scheduled_at is not None  # noqa: S101 - for the type checker: queued targets have times
    return target.scheduled_at
