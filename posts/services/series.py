"""Creation, change and end of series. The worker loop makes their posts (posts/services/series_occurrences.py)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db import transaction
from django.utils import timezone

from accounts.models import ConnectedAccount
from auditlog.services import record_entry
from config.api.caller import Caller, check_account_allowlist, requested_or_own_workspace_id, require_access, require_scope
from config.api.errors import Conflict, Forbidden, InvalidState, PlanChanged, ValidationFailed
from config.api.plan import ResourcePlan, accept_plan
from config.api.scopes import EDITOR
from config.api.trace import current_trace_id
from config.jobs.wake_up import wake_worker_loop_after_commit
from media.models import MediaAsset
from posts.attached_media import existing_workspace_assets_by_id
from posts.errors import prefixing_error_fields
from posts.models import Series
from posts.models.series import LOCAL_FORMAT
from posts.plan_building import WRITE_SCOPES, RowsForPlans, new_group_change
from posts.recurrence import InvalidRule, Occurrence
from posts.recurrence.occurrences import SEARCHED_YEARS
from posts.series_plan import NewSeriesPlan, series_content_in_plan
from posts.series_posts import post_input_of_occurrence, refuse_early_reuse_of_alternating_texts, texts_of_series
from posts.series_selectors import MAX_LIVE_SERIES, count_series_not_ended, get_series, occurrences_that_can_be_cancelled
from workspaces.services import lock_workspace

LOOP_NAME = "series"
MAX_EXDATES = 1000
POST_DEFAULTS: Mapping[str, Any] = {"media": [], "webhook_url": None, "metadata": {}}


@dataclass(frozen=True)
class SeriesEdit:
    """The changes to a series; None keeps the stored value. `apply_to_scheduled` changes scheduled posts, too."""

    name: str | None = None
    post: Mapping[str, Any] | None = None
    rrule: str | None = None
    exdates: list[str] | None = None
    status: str | None = None
    apply_to_scheduled: bool = False

    @property
    def changed_field_names(self) -> list[str]:
        """Return the names of the fields to which this SeriesEdit gives a value, in alphabetical order."""
        return [name for name in ("exdates", "name", "post", "rrule", "status") if getattr(self, name) is not None]

    @property
    def changes_content_or_recurrence(self) -> bool:
        """Return whether the edit changes the posts that the series will make: their content, or when they are published."""
        return any(value is not None for value in (self.post, self.rrule, self.exdates))


def plan_create_series(caller: Caller, fields: Mapping[str, Any], *, dry_run: bool = False) -> NewSeriesPlan:
    """Plan a new series from a request's validated fields; its post is checked like a post that the caller schedules.

    Raises the errors of `create_post` except the spend errors, and ValidationFailed for `rrule` and `starts_at`.
    """
    workspace_id = requested_or_own_workspace_id(caller, fields.get("workspace_id"))
    require_access(caller, workspace_id, WRITE_SCOPES, body_field="workspace_id")
    series = Series(
        workspace_id=workspace_id,
        name=fields.get("name"),
        timezone=fields["timezone"],
        starts_at=fields["starts_at"],
        rrule=fields["rrule"],
        exdates=sorted(set(fields.get("exdates", ()))),
        post=_with_defaults(fields["post"]),
        cost_cents_each=0,
        maker=caller.idempotency_key_owner,
        created_by_type=caller.actor_type,
        created_by_id=caller.actor_id,
        agent_id=caller.agent_id,
        trace_id=current_trace_id(),
        due_at=timezone.now(),
    )
    if datetime.fromisoformat(series.starts_at).year < timezone.now().year - SEARCHED_YEARS:
        message = f"Must not be more than {SEARCHED_YEARS} years in the past."
        raise ValidationFailed.for_field("starts_at", message, "past")
    assets = _check_post(caller, series, _first_occurrence(series), dry_run=dry_run)
    return NewSeriesPlan(operation="series.create", caller=caller, workspace_id=workspace_id, series=series, assets=assets)


def plan_and_commit_series(
    make_plan: Callable[[], NewSeriesPlan], *, dry_run: bool = False, plan_hash: str | None = None, audited: bool = True
) -> NewSeriesPlan:
    """Make the plan of a new series and commit it. A dry run writes nothing but, if it is `audited`, an audit entry.

    Raises PlanChanged, Conflict (MAX_LIVE_SERIES) and the errors of `make_plan`.
    """
    plan = make_plan()
    series = plan.series
    with transaction.atomic():
        lock_workspace(plan.workspace_id)  # so that concurrent calls cannot exceed the limit together
        if count_series_not_ended(workspace_id=plan.workspace_id) >= MAX_LIVE_SERIES:
            raise Conflict(
                f"The workspace already has {MAX_LIVE_SERIES} live series.", suggested_action="End unused series first."
            )
        if plan_hash not in (None, plan.hash):
            raise PlanChanged()
        if not dry_run:
            series.save(force_insert=True)
            wake_worker_loop_after_commit(LOOP_NAME)
        if audited:
            _record(plan.approved_by or plan.caller, "series.create", series, dry_run=dry_run, **plan.audit)
    return plan


def create_series(
    *, caller: Caller, fields: Mapping[str, Any], dry_run: bool = False, plan_hash: str | None = None
) -> NewSeriesPlan:
    """Create a series from the validated fields of a request; the worker loop schedules its posts.

    Raises ScopeMissing, AgentModeForbids, WorkspacePaused, ValidationFailed, WebhookUrlNotAllowed, AccountNotAllowed,
    ContentInvalid, Conflict (MAX_LIVE_SERIES), PlanChanged.
    """
    return plan_and_commit_series(
        lambda: plan_create_series(caller, fields, dry_run=dry_run), dry_run=dry_run, plan_hash=plan_hash
    )


def update_series(*, caller: Caller, series_id: str, edit: SeriesEdit, dry_run: bool = False) -> Series:
    """Change a series' name, post, rule, exceptions or status. Scheduled posts change only with `apply_to_scheduled`.

    Raises NotFound, ScopeMissing, Forbidden (an agent or editor, and another's series), InvalidState (ended), PlanChanged,
    and the errors of `create_series` except Conflict.
    """
    with transaction.atomic():
        series = _locked_live(caller, series_id)
        assets = _assets(series)
        before = {**series_content_in_plan(series, assets), "name": series.name}
        _check_others_series(caller, series, edit)
        if edit.name is not None:
            series.name = edit.name
        if edit.status is not None:
            series.status = Series.Status(edit.status)
        if edit.changes_content_or_recurrence:
            series.post = series.post if edit.post is None else _with_defaults(edit.post)
            series.rrule = series.rrule if edit.rrule is None else edit.rrule
            series.exdates = series.exdates if edit.exdates is None else sorted(set(edit.exdates))
            series.revision += 1
        _require_schedule_scope(caller, series, dry_run=dry_run)
        if edit.changes_content_or_recurrence or edit.status == Series.Status.ACTIVE:
            assets |= _check_post(caller, series, _first_occurrence(series), dry_run=dry_run)
        if edit.apply_to_scheduled:
            series.applied_revision = series.revision
        after = {**series_content_in_plan(series, assets), "name": series.name, "apply_to_scheduled": edit.apply_to_scheduled}
        accept_plan(ResourcePlan("series.update", series.id, before, after))
        _save(series, dry_run=dry_run)
        _record(caller, "series.update", series, dry_run=dry_run, fields=edit.changed_field_names)
    return series


def end_series(*, caller: Caller, series_id: str, dry_run: bool = False) -> Series:
    """End a series for good. Its scheduled posts are cancelled by `cancel_or_edit_scheduled_posts`.

    Raises NotFound, ScopeMissing, AccountNotAllowed, InvalidState (already ended), WorkspacePaused, PlanChanged.
    """
    with transaction.atomic():
        series = _locked_live(caller, series_id)
        check_account_allowlist(caller, series.account_ids)
        _require_schedule_scope(caller, series, dry_run=dry_run)
        before = series_content_in_plan(series, _assets(series))
        series.status = Series.Status.ENDED
        accept_plan(ResourcePlan("series.delete", series.id, before, {**before, "status": str(series.status)}))
        if not dry_run:
            occurrences_that_can_be_cancelled(series).update(withdrawn=True)
        _save(series, dry_run=dry_run)
        _record(caller, "series.delete", series, dry_run=dry_run)
    return series


def skip_occurrence(*, caller: Caller, series_id: str, at: datetime, dry_run: bool = False) -> Series:
    """Leave out one occurrence of a series. If its post is scheduled, `cancel_or_edit_scheduled_posts` cancels it.

    Skipping an occurrence again changes nothing. Raises ValidationFailed if the series has no occurrence at that instant,
    and the errors of `end_series`.
    """
    with transaction.atomic():
        series = _locked_live(caller, series_id)
        check_account_allowlist(caller, series.account_ids)
        _require_schedule_scope(caller, series, dry_run=dry_run)
        before = series_content_in_plan(series, _assets(series))
        local_times = {each.strftime(LOCAL_FORMAT) for each in series.recurrence.local_times_at(at)}
        made = series.occurrences.filter(at=at)
        if at <= timezone.now() or not (local_times or made.exists()):
            raise ValidationFailed.for_field("at", "The series has no occurrence then; `next` lists them.", "not_found")
        series.exdates = sorted({*series.exdates, *local_times})
        if len(series.exdates) > MAX_EXDATES:
            series.exdates = _future_exdates(series)
        accept_plan(ResourcePlan("series.skip", series.id, before, {**before, "exdates": series.exdates, "at": at}))
        if not dry_run:
            made.update(withdrawn=True)
        _save(series, dry_run=dry_run)
        _record(caller, "series.skip", series, dry_run=dry_run, at=at.isoformat())
    return series


def _with_defaults(post: Mapping[str, Any]) -> dict[str, Any]:
    targets = [{"text": None, "options": {}, **target} for target in post["targets"]]
    return {**POST_DEFAULTS, **post, "targets": targets}


def _first_occurrence(series: Series) -> Occurrence:
    """Return the first occurrence of a series that lies ahead. Raises ValidationFailed if there is none in ten years."""
    try:
        first = series.recurrence.next_occurrence(timezone.now())
    except InvalidRule as error:
        raise ValidationFailed.for_field("rrule", str(error), "invalid") from error
    if first is None:
        message = f"The rule has no occurrence within the next {SEARCHED_YEARS} years."
        raise ValidationFailed.for_field("rrule", message, "no_occurrence")
    return first


def _check_post(caller: Caller, series: Series, first: Occurrence, *, dry_run: bool) -> dict[str, MediaAsset]:
    """Check a series' post with each text as if the caller scheduled it; set its price to that of the dearest text.

    Returns the attached assets by id.
    """
    now = timezone.now()
    at = min(first.at, now + timedelta(days=365))  # a post of its own may not be scheduled further ahead
    local, count = first.local.strftime(LOCAL_FORMAT), len(texts_of_series(series.post))
    posts = [post_input_of_occurrence(series, at, number=number, local=local) for number in range(1, count + 1)]
    refuse_early_reuse_of_alternating_texts(series, now)
    rows = RowsForPlans.read(series.workspace_id, posts)
    changes = []
    for index, post in enumerate(posts):
        with prefixing_error_fields(f"post.texts[{index - 1}]" if index else "post"):
            changes.append(new_group_change(caller, post, dry_run=dry_run, rows=rows))
    series.cost_cents_each = max(change.after.cost_cents for change in changes)
    return dict(rows.assets)


def _assets(series: Series) -> dict[str, MediaAsset]:
    return dict(existing_workspace_assets_by_id(series.workspace_id, (each["media_id"] for each in series.post["media"])))


def _locked_live(caller: Caller, series_id: str) -> Series:
    """Lock and return a series that has not ended. Raises NotFound, ScopeMissing, WorkspacePaused, InvalidState (ended)."""
    found = get_series(caller=caller, series_id=series_id, scope=WRITE_SCOPES, write=True)
    series = Series.objects.select_for_update(no_key=True).get(pk=found.pk)
    if Series.Status.ENDED in (found.status, series.status):  # the found one has ended if its agent was revoked
        raise InvalidState("The series has ended.", suggested_action="Create a new series.")
    return series


def _check_others_series(caller: Caller, series: Series, edit: SeriesEdit) -> None:
    """Forbid agents and editors to change others' series, which publish with their creators' rights; pausing is allowed.

    Editors are included even where their posts need no approval, since that may change before the series publishes.
    """
    check_account_allowlist(caller, series.account_ids)
    stops = edit.status == Series.Status.PAUSED and edit.changed_field_names == ["status"] and not edit.apply_to_scheduled
    is_restricted = caller.agent_id or caller.role == EDITOR
    if is_restricted and caller.idempotency_key_owner != series.maker and not stops:
        who = "An agent" if caller.agent_id else "An editor"
        raise Forbidden(f"{who} may pause, skip or end the series of others, but not change them.")


def _require_schedule_scope(caller: Caller, series: Series, *, dry_run: bool) -> None:
    """Raise ScopeMissing if the caller may not schedule a series' posts; not for a dry run or sandbox accounts."""
    accounts = ConnectedAccount.objects.filter(workspace=series.workspace_id, pk__in=series.account_ids)
    if not (dry_run or all(account.sandbox for account in accounts)):
        require_scope(caller, "posts.schedule")


def _future_exdates(series: Series) -> list[str]:
    """Return the exdates of a series, the local times left out, without those of more than two days ago."""
    earliest = (timezone.now().astimezone(ZoneInfo(series.timezone)) - timedelta(days=2)).strftime(LOCAL_FORMAT)
    return [local for local in series.exdates if local >= earliest]


def _save(series: Series, *, dry_run: bool) -> None:
    """Save a changed series, with a raised fence number that stops workers from making posts of the old content."""
    if not dry_run:
        series.fence += 1
        series.lease_until, series.due_at = None, timezone.now()
        series.save()
        wake_worker_loop_after_commit(LOOP_NAME)


def _record(caller: Caller, operation: str, series: Series, *, dry_run: bool, **metadata: Any) -> None:
    record_entry(
        caller=caller,
        operation=operation,
        workspace_id=series.workspace_id,
        resource_type="series",
        resource_id="" if dry_run and operation == "series.create" else series.id,
        dry_run=dry_run,
        metadata=metadata,
    )
