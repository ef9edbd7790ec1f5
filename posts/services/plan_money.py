"""The money of plans of posts: checks spend caps for a preview, and spends or releases the money held for targets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from billing import selectors as billing
from billing.caps import SpendCapStatus
from billing.services import lock_month_counters_in_order, release_holds, settle_holds_as_spent
from posts.models import PostTarget
from posts.plan import GroupChange, Plan


def check_plan_against_caps(plan: Plan) -> SpendCapStatus:
    """Check the prices of a plan against all spend caps, without reserving money. Raises the spend errors."""
    by_agent = group_changes_by_capped_agent(plan.changes)
    for changes in by_agent if len(by_agent) > 1 else ():
        _check(plan.workspace_id, changes[0].agent_id_for_caps, changes)
    return _check(plan.workspace_id, plan.changes[0].agent_id_for_caps if len(by_agent) == 1 else None, plan.changes)


def _check(workspace_id: str, agent_id: str | None, changes: Sequence[GroupChange]) -> SpendCapStatus:
    return billing.check_charges_against_caps_by_due_time(
        workspace_id=workspace_id,
        agent_id=agent_id,
        parts=[part for change in changes for part in change.charges_by_due or [(change.due, [])]],
        instead_of=[pk for change in changes for pk in _real_ids(change.releases)],
    )


def group_changes_by_capped_agent(changes: Sequence[GroupChange]) -> list[list[GroupChange]]:
    """Group the changes of a plan by the agent whose spend caps their prices count against, if any."""
    found: dict[str | None, list[GroupChange]] = {}
    for change in changes:
        found.setdefault(change.agent_id_for_caps, []).append(change)
    return list(found.values())


def settle_or_release_holds(changes: Sequence[GroupChange]) -> None:
    """Spend or release the reserved money of targets that a plan of posts finishes or cancels.

    If prices are reserved afterwards, the counters are locked here, for all changes in one order.
    """
    released = _real_ids(target for change in changes for target in change.releases)
    due_times = [due for change in changes for due, _ in change.charges_by_due]
    agent_ids = {change.agent_id_for_caps or "" for change in changes}
    if due_times and (released or len(agent_ids) > 1):
        workspace_id = changes[0].after.workspace_id
        lock_month_counters_in_order(target_ids=released, workspace_id=workspace_id, agent_ids=agent_ids, due_times=due_times)
    settle_holds_as_spent(target_ids=_real_ids(target for change in changes for target in change.settles))
    release_holds(target_ids=released, failed=False)
    release_holds(target_ids=_real_ids(target for change in changes for target in change.failures), failed=True)


def _real_ids(targets: Iterable[PostTarget]) -> list[str]:
    """Return the ids of the planned post targets that cost money: those outside the sandbox."""
    return [target.id for target in targets if not target.sandbox]
