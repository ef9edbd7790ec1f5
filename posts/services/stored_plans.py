"""The services of stored plans: POST /plans makes one, and a later commit does exactly what it shows, or nothing."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from agents.models import Agent
from auditlog.services import record_entry
from config.api.caller import AgentMode, Caller, require_access
from config.api.errors import Conflict, Forbidden, InvalidState, missing_or_foreign_id_error
from config.api.trace import current_trace_id
from config.db.ids import is_id
from posts.errors import PlanChanged, PlanExpired
from posts.models import StoredPlan
from posts.plan import Plan
from posts.plan_building import is_scheduled_or_publishing
from posts.services.review import REVIEW_SCOPES

PLAN_LIFETIME = timedelta(hours=1)
MAX_OPEN_PLANS = 1000  # in a workspace
MAX_CHANGES_SHOWN = 20


@dataclass(frozen=True)
class RequestToPlan:
    """The request from which a stored plan is made: an operation, the post group to change ("" for none), and the body.

    `workspace_id` is the workspace that it names, if any. `make_plan(caller=…, dry_run=…)` makes its plan, and `preview`
    returns the answer to a dry run with that plan. `plan_and_commit` commits it.
    """

    operation: str
    post_group_id: str
    request: Mapping[str, Any]
    make_plan: Callable[..., Plan]
    preview: Callable[[Plan], dict[str, Any]]
    plan_and_commit: Callable[..., Plan]
    workspace_id: str | None = None


@dataclass(frozen=True)
class CommittedPlan:
    """A stored plan and the Plan committed now; the Plan is None if the stored plan had been committed before."""

    stored: StoredPlan
    plan: Plan | None


def make_and_store_plan(
    *, caller: Caller, planned: RequestToPlan, audited_as: Caller | None = None, dashboard_page: str = ""
) -> StoredPlan:
    """Make a plan of posts and store it for an hour. Nothing is reserved, charged or published.

    `audited_as` is who asked for it, if not its maker. `dashboard_page` is the page on which a person makes it. Raises the
    errors of the operation's dry run, and Conflict if the workspace has too many open plans.
    """
    plan = planned.plan_and_commit(lambda: planned.make_plan(caller=caller, dry_run=True), dry_run=True, audited=False)
    if planned.workspace_id not in (None, plan.workspace_id):
        raise missing_or_foreign_id_error("workspace_id", "workspace")
    now = timezone.now()
    open_plans = StoredPlan.objects.filter(workspace_id=plan.workspace_id, committed_at=None, expires_at__gt=now)
    if open_plans.count() >= MAX_OPEN_PLANS:
        raise Conflict(
            f"The workspace has {MAX_OPEN_PLANS} open plans.",
            suggested_action=gettext_noop("Commit some of them, or wait until they expire."),
        )
    with transaction.atomic():
        stored = StoredPlan.objects.create(
            workspace_id=plan.workspace_id,
            operation=planned.operation,
            post_group_id=planned.post_group_id or None,
            request=dict(planned.request),
            preview=planned.preview(plan),
            content=plan.hashed_data,
            hash=plan.hash,
            maker=caller.idempotency_key_owner,
            dashboard_page=dashboard_page,
            created_by_type=caller.actor_type,
            created_by_id=caller.actor_id,
            agent_id=caller.agent_id,
            expires_at=now + PLAN_LIFETIME,
            trace_id=current_trace_id(),
        )
        record_entry(
            caller=audited_as or caller,
            operation="plans.create",
            workspace_id=plan.workspace_id,
            resource_type="plan",
            resource_id=stored.id,
            metadata={"operation": planned.operation, "hash": plan.hash},
        )
    return stored


def delete_open_plans_of_dashboard_page(*, caller: Caller, workspace_id: str, dashboard_page: str) -> None:
    """Delete the caller's open stored plans of a dashboard page, because the page's new plans replace them.

    So a person who looks at many previews does not use up the open plans of the workspace.
    """
    made = StoredPlan.objects.filter(workspace_id=workspace_id, maker=caller.idempotency_key_owner, committed_at=None)
    made.filter(dashboard_page=dashboard_page, expires_at__gt=timezone.now()).delete()


def get_stored_plan(*, caller: Caller, plan_id: str) -> StoredPlan:
    """Return a stored plan of the caller's workspace. Raises NotFound, ScopeMissing."""
    return _plan_of_workspace(caller, plan_id, "posts.read", write=False)


def commit_stored_plan(
    *,
    caller: Caller,
    plan_id: str,
    request_of: Callable[[StoredPlan], RequestToPlan],
    dry_run: bool = False,
    plan_hash: str | None = None,
) -> CommittedPlan:
    """Commit a stored plan if it would still do exactly what it shows. A repeated call changes nothing.

    The plan's maker may commit it, or a person who may confirm posts. A person's commit of an agent's plan is the person's
    confirmation: the agent's caps and allowlist apply, and the post goes out. `plan_hash` is the hash that the stored plan
    must have. Raises NotFound, PlanExpired, PlanChanged (with a new plan, if this one no longer fits), and the errors of the
    operation.
    """
    stored = _plan_of_workspace(caller, plan_id, None, write=True)
    is_maker = stored.maker == caller.idempotency_key_owner
    if not is_maker and not (caller.is_user and caller.has_scope(REVIEW_SCOPES)):
        raise missing_or_foreign_id_error(None, "plan")
    if stored.agent_id and not is_maker and not caller.may_approve:
        raise Forbidden(gettext_noop("Only an owner or admin can confirm the plan of an agent."))
    if stored.committed_at:
        return CommittedPlan(stored, None)
    if stored.status == "expired":
        raise PlanExpired()
    if plan_hash not in (None, stored.hash):
        raise PlanChanged()
    planned = request_of(stored)
    maker = caller if is_maker or stored.agent_id is None else _agent_approved_by(caller, stored.agent_id)
    make_plan = functools.partial(_make_plan_again, stored, planned, maker, caller, dry_run)
    if dry_run:
        return CommittedPlan(stored, planned.plan_and_commit(make_plan, dry_run=True))
    try:
        return _commit(stored, functools.partial(planned.plan_and_commit, make_plan))
    except PlanChanged as error:
        with contextlib.suppress(Conflict):  # too many open plans
            error.changed_plan = make_and_store_plan(
                caller=maker, planned=planned, audited_as=caller, dashboard_page=stored.dashboard_page
            )
        raise


def _commit(stored: StoredPlan, plan_and_commit: Callable[[], Plan]) -> CommittedPlan:
    with transaction.atomic():
        locked = StoredPlan.objects.select_for_update().get(pk=stored.pk)
        if locked.committed_at:
            return CommittedPlan(locked, None)
        plan = plan_and_commit()
        locked.committed_at = timezone.now()
        locked.result_ids = plan.resource_ids
        locked.save(update_fields=("committed_at", "result_ids", "updated_at"))
    return CommittedPlan(locked, plan)


def _plan_of_workspace(caller: Caller, plan_id: str, scope: str | None, *, write: bool) -> StoredPlan:
    stored = StoredPlan.objects.filter(pk=plan_id).first() if is_id(plan_id, "pln") else None
    if stored is None or (not caller.is_user and stored.workspace_id != caller.workspace_id):
        raise missing_or_foreign_id_error(None, "plan")
    require_access(caller, stored.workspace_id, scope, write=write, noun="plan")
    return stored


def _agent_approved_by(person: Caller, agent_id: str) -> Caller:
    """Return the caller for an agent whose plan a person commits: with the person's scopes, but the agent's allowlist."""
    agent = Agent.objects.filter(pk=agent_id).exclude(status=Agent.Status.REVOKED).first()
    if agent is None:
        raise InvalidState(
            gettext_noop("The agent that made this plan was revoked."),
            suggested_action=gettext_noop("Create the post yourself."),
        )
    allowlist = None if agent.account_allowlist is None else tuple(agent.account_allowlist)
    return replace(person, kind="agent", actor_id=agent.id, role=None, mode=agent.default_mode, account_allowlist=allowlist)


def _make_plan_again(stored: StoredPlan, planned: RequestToPlan, maker: Caller, caller: Caller, dry_run: bool) -> Plan:
    """Make a stored plan again from its request. Raises PlanChanged if the plan would not do the same any more.

    An agent's plan that a person approves is made twice: in the agent's mode to compare it, and then as the person allows it.
    """
    plan = planned.make_plan(caller=maker, dry_run=dry_run)
    if plan.hash != stored.hash:
        changed = itertools.islice(_changed_fields("", stored.content, plan.hashed_data), MAX_CHANGES_SHOWN)
        message = "This is no longer as in the plan."
        raise PlanChanged(details=[{"field": name, "code": "changed", "message": message} for name in changed])
    if maker is caller:
        return replace(plan, audit={"plan_id": stored.id})
    if maker.mode != AgentMode.DRAFT and plan.changes:
        agreed, plan = plan, planned.make_plan(caller=replace(maker, mode=AgentMode.ALLOW_PUBLISH), dry_run=dry_run)
        if [each["before"] for each in plan.hashed_data["posts"]] != [each["before"] for each in agreed.hashed_data["posts"]]:
            raise PlanChanged()  # somebody has edited the group between the two
        confirmed = ("post.confirmed", None)
        changes = [
            replace(change, events=(confirmed, *change.events)) if is_scheduled_or_publishing(change.after) else change
            for change in plan.changes
        ]
        plan = replace(plan, changes=changes)
    audit = {"plan_id": stored.id, "agent_id": maker.actor_id}
    return replace(plan, approved_hash=stored.hash, approved_by=caller, audit=audit)


def _changed_fields(path: str, before: Any, after: Any) -> Iterator[str]:
    """Yield the path of each value in which two plans of posts differ, such as `posts[0].after.cost_cents`."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted(before.keys() | after.keys()):
            yield from _changed_fields(f"{path}.{name}".lstrip("."), before.get(name), after.get(name))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, pair in enumerate(zip(before, after, strict=True)):
            yield from _changed_fields(f"{path}[{index}]", *pair)
    elif before != after:
        yield path
