"""Makes the scheduled posts of series, and cancels or edits them when their series ends or changes.

A worker claims a series that is due (config/jobs/claims.py). Each post is made by the plan of posts.create and committed
together with the row of its occurrence, guarded by the claim's fence, so that each occurrence is made once, whatever dies.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import ConnectedAccount
from agents.selectors import caller_of_idempotency_key_owner
from config.api.caller import Caller, WorkspaceStatus, require_access, system_caller
from config.api.errors import ApiError, Conflict, Forbidden, InvalidState, NotFound
from config.api.request_limits import start_cpu_timer
from config.api.trace import set_trace_actor, start_or_continue_trace
from config.db.writes import Write, build_insert_writes
from config.jobs.claims import claim_due, claimed_row_queryset
from config.jobs.fenced_updates import FencedUpdate, build_fenced_update_writes
from posts.content import PostEdit, media_inputs_of_group, target_inputs_of_group
from posts.models import PostGroup, Series, SeriesOccurrence
from posts.models.series import LOCAL_FORMAT
from posts.plan import Plan
from posts.plan_building import WRITE_SCOPES
from posts.recurrence import Occurrence
from posts.selectors import groups_prefetching_targets
from posts.series_json import series_json
from posts.series_posts import post_input_of_occurrence
from posts.series_selectors import live_series_of_revoked_agents, occurrences_that_can_be_cancelled, upcoming_occurrences
from posts.services.cancel import plan_cancel
from posts.services.commit import plan_and_commit
from posts.services.create import plan_create
from posts.services.update import plan_update
from posts.states import CANCELLABLE_GROUP_STATUSES, GroupStatus
from webhooks.event_kinds import EventKind
from webhooks.services import store_event_without_delivery

logger = logging.getLogger(__name__)
LEASE = timedelta(minutes=5)
MAX_POSTS_MADE_AT_ONCE = 24  # posts made of one series before other series get their turn
REFUSED_PAUSE = timedelta(minutes=10)
PAUSED_WORKSPACE_PAUSE = timedelta(minutes=5)
WITHDRAW_AGAIN_AFTER = timedelta(seconds=2)  # a post that could not be cancelled while a worker had claimed it


class SeriesChanged(Exception):
    """Error for a series that somebody has changed, or another worker has claimed, while this worker made its posts."""


def make_series_of_revoked_agents_due(limit: int) -> list[Series]:
    """Make series of agents that were revoked due at once, so that a worker ends them; returns these series."""
    now = timezone.now()
    found = list(live_series_of_revoked_agents().filter(Q(due_at=None) | Q(due_at__gt=now))[:limit])
    if found:
        Series.objects.filter(pk__in=[series.pk for series in found]).update(due_at=now)
    return found


def claim_due_series(limit: int) -> list[Series]:
    """Claim, for one worker, up to `limit` series whose occurrences need work: posts to make, edit or cancel."""
    return claim_due(Series.objects.select_related("workspace"), limit=limit, lease=LEASE)


def apply_changes_of_claimed_series(series: Series) -> None:
    """For a claimed series' occurrences, cancel, edit and make scheduled posts, and set when the series is due next."""
    start_or_continue_trace(series.trace_id)
    set_trace_actor(system_caller(series.workspace_id))
    try:
        if series.workspace.status == WorkspaceStatus.DELETED or _agent_was_revoked(series):
            with transaction.atomic():
                _end(series)
                occurrences_that_can_be_cancelled(series).update(withdrawn=True)
        cancel_or_edit_scheduled_posts(series)
        due_at = _make_due_posts(series)
        if occurrences_that_can_be_cancelled(series).filter(withdrawn=True).exists():
            due_at = timezone.now() + WITHDRAW_AGAIN_AFTER
        _set_due(series, due_at)
    except SeriesChanged:
        logger.info("%s was changed meanwhile.", series.id)


def cancel_or_edit_scheduled_posts(series: Series) -> None:
    """Cancel the scheduled posts that a series no longer has, and edit those that its change applies to.

    Posts that somebody else has edited stay as they are, unless they are withdrawn: the series was ended, or their occurrence
    was skipped. When the rule of a series comes to its end, its last posts are published all the same.
    """
    rows = occurrences_that_can_be_cancelled(series).select_related("group").order_by("at")
    for row in rows.filter(Q(withdrawn=True) | Q(revision__lt=series.applied_revision)):
        if row.group is None:
            continue
        unedited = row.group.content_version == row.group_version
        if row.withdrawn or (unedited and not _has_occurrence(series, row.at)):
            _cancel(series, row, row.group)
        else:
            _edit(series, row)
    done = Q(group=None) | Q(group__status=GroupStatus.CANCELLED)
    series.occurrences.filter(done, withdrawn=True).delete()  # so that the rule may have these occurrences again


def _cancel(series: Series, row: SeriesOccurrence, group: PostGroup) -> None:
    """Cancel a post of a series. A post that is being published meanwhile stays."""
    caller = system_caller(series.workspace_id, retention_tier=series.workspace.retention_tier)
    stored = SeriesOccurrence.objects.filter(pk=row.pk)
    stored.update(withdrawn=True)
    try:
        plan_and_commit(lambda: _with_series(plan_cancel(caller, group.id), series))
    except InvalidState:
        # A post that a worker has claimed only to postpone it can still be cancelled at the next pass.
        stored.exclude(group__status__in=(*CANCELLABLE_GROUP_STATUSES, GroupStatus.CANCELLED)).update(withdrawn=False)


def _edit(series: Series, row: SeriesOccurrence) -> None:
    """Give a scheduled post the content of its changed series, unless somebody else has edited the post."""
    group = groups_prefetching_targets().get(pk=row.group_id)
    wanted = post_input_of_occurrence(series, row.at, number=row.number, local=row.local)
    applied = {"revision": series.revision}
    edit = PostEdit(text=wanted.text, targets=wanted.targets, media=wanted.media)
    stored = PostEdit(text=group.text, targets=target_inputs_of_group(group), media=media_inputs_of_group(group))
    try:
        if group.content_version == row.group_version and edit != stored:
            plan_and_commit(
                lambda: _with_series(plan_update(_maker(series), group.id, edit), series),
                stored_answer_writes=lambda plan: build_fenced_update_writes(
                    [FencedUpdate(row, {**applied, "group_version": plan.group.content_version, "error": None})]
                ),
            )
            return
    except Conflict:
        return  # another worker does the same, or somebody has edited the post; the next pass will see
    except InvalidState:
        pass  # the post is being published
    except ApiError as error:
        SeriesOccurrence.objects.filter(pk=row.pk).update(**applied, error=_error_json(error))
        return
    SeriesOccurrence.objects.filter(pk=row.pk).update(**applied)


def _make_due_posts(series: Series) -> datetime | None:
    """Make the posts of a series that are due; returns when the series is due again, None if it has nothing more to do."""
    now = timezone.now()
    if series.status != Series.Status.ACTIVE:
        return None
    if series.workspace.status == WorkspaceStatus.PAUSED:
        return now + PAUSED_WORKSPACE_PAUSE
    ahead = now + timedelta(days=settings.SERIES_AHEAD_DAYS)
    stored = {row.at: row for row in series.occurrences.filter(at__gt=now)}
    due = [(each, stored.get(each.at)) for each in series.recurrence.occurrences(now, ahead)]
    due = [(occurrence, row) for occurrence, row in due if row is None or not row.group_id]
    due.sort(key=lambda each: each[1].tries if each[1] else 0)  # those refused least come first, so that each has its turn
    made = [_make_post(series, occurrence, row) for occurrence, row in due[:MAX_POSTS_MADE_AT_ONCE]]
    if due[MAX_POSTS_MADE_AT_ONCE:] and due[MAX_POSTS_MADE_AT_ONCE][1] is None:
        return now
    if not all(made) or due[MAX_POSTS_MADE_AT_ONCE:]:
        return now + REFUSED_PAUSE
    following = series.recurrence.next_occurrence(ahead)
    if following:
        return following.at - timedelta(days=settings.SERIES_AHEAD_DAYS)
    last = series.recurrence.next_occurrence(now)
    if last is None:  # the rule has come to its end
        _end(series)
        return None
    return last.at


def _make_post(series: Series, occurrence: Occurrence, row: SeriesOccurrence | None) -> bool:
    """Schedule the post of an occurrence with the rights of the series' creator; False if refused. Raises SeriesChanged."""
    start_cpu_timer()  # each post may take the work of one request
    try:
        maker = _maker(series)
        local = occurrence.local.strftime(LOCAL_FORMAT)
        post = post_input_of_occurrence(series, occurrence.at, number=series.made + 1, local=local)
        plan_and_commit(
            lambda: _with_series(plan_create(maker, post), series),
            stored_answer_writes=lambda plan: _made_writes(series, occurrence, row, plan.group),
        )
    except Conflict as error:  # only the guards of the series can be in the way of a new post
        raise SeriesChanged from error
    except ApiError as error:
        _record_refusal(series, occurrence, row, error)
        return False
    series.made += 1
    return True


def _made_writes(series: Series, occurrence: Occurrence, row: SeriesOccurrence | None, group: PostGroup) -> Sequence[Write]:
    """Return the writes that record the post made for a series' occurrence; a lost claim or an inactive series fails them."""
    number = series.made + 1
    versions = {"group_version": group.content_version, "revision": series.revision}
    values = {"group_id": group.id, "number": number, **versions}
    counted = FencedUpdate(series, {"made": number}, [Series.Status.ACTIVE])
    if row is None:
        recorded = build_insert_writes([_new_row(series, occurrence, **values)])
    else:
        changes = {**values, "error": None, "tries": row.tries + 1}
        changes["group"] = changes.pop("group_id")
        recorded = build_fenced_update_writes([FencedUpdate(row, changes, (), ("tries",))])
    return [*build_fenced_update_writes([counted]), *recorded]


@transaction.atomic
def _record_refusal(series: Series, occurrence: Occurrence, row: SeriesOccurrence | None, error: ApiError) -> None:
    """Store why a post of a series could not be made. The first time, an event reports it. Raises SeriesChanged."""
    rows = claimed_row_queryset(Series.objects.filter(status=Series.Status.ACTIVE), series)
    if not rows.select_for_update(no_key=True).exists():
        raise SeriesChanged
    if row is not None:
        SeriesOccurrence.objects.filter(pk=row.pk, group=None).update(error=_error_json(error), tries=row.tries + 1)
        return
    _new_row(series, occurrence, revision=series.revision, error=_error_json(error)).save(force_insert=True)
    store_event_without_delivery(
        workspace_id=series.workspace_id,
        kind=EventKind.OCCURRENCE_REFUSED,
        subject_id=series.id,
        trace_id=series.trace_id,
        data={"series": series_json(series, upcoming_occurrences(series))},
        sandbox=not ConnectedAccount.objects.filter(pk__in=series.account_ids, sandbox=False).exists(),
    )


def _new_row(series: Series, occurrence: Occurrence, **values: object) -> SeriesOccurrence:
    return SeriesOccurrence(series_id=series.pk, at=occurrence.at, local=occurrence.local.strftime(LOCAL_FORMAT), **values)


def _maker(series: Series) -> Caller:
    """Return a series' creator as a Caller with its present rights. Raises ApiKeyRevoked, ApiKeyExpired, Forbidden."""
    caller = caller_of_idempotency_key_owner(series.maker, workspace=series.workspace, actor_type=series.created_by_type)
    try:
        require_access(caller, series.workspace_id, WRITE_SCOPES)
    except NotFound as error:
        raise Forbidden("The person who made the series is no longer a member of the workspace.") from error
    return caller


def _with_series(plan: Plan, series: Series) -> Plan:
    """Record on the post of a plan, and on its audit entry, the series that made the post."""
    plan.group.series_id = series.id
    return replace(plan, audit={"series_id": series.id})


def _has_occurrence(series: Series, at: datetime) -> bool:
    return any(each.at == at for each in series.recurrence.occurrences(at - timedelta(seconds=1), at))


def _agent_was_revoked(series: Series) -> bool:
    return live_series_of_revoked_agents().filter(pk=series.pk).exists()


def _end(series: Series) -> None:
    _update(series, status=Series.Status.ENDED)


def _set_due(series: Series, due_at: datetime | None) -> None:
    _update(series, due_at=due_at, lease_until=None)


def _update(series: Series, **values: object) -> None:
    """Write fields of a claimed series. Raises SeriesChanged if this worker has lost the claim."""
    if not claimed_row_queryset(Series.objects.all(), series).update(**values, updated_at=timezone.now()):
        raise SeriesChanged
    for name, value in values.items():
        setattr(series, name, value)


def _error_json(error: ApiError) -> dict[str, object]:
    body = error.response_body()
    return {name: body[name] for name in ("code", "message", "suggested_action", "auto_fixable", "trace_id")}
