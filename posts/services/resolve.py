"""Resolution of unconfirmed post targets: a person reports whether the post was published."""

from __future__ import annotations

from django.utils import timezone

from config.api.caller import Caller, check_account_allowlist
from config.api.errors import InvalidState, missing_or_foreign_id_error
from posts import selectors
from posts.events import outcome_event_kinds_and_targets
from posts.models import PostGroup, PostTarget
from posts.plan import GroupChange, Plan, copy_of_group
from posts.plan_building import refuse_caller_needing_approval
from posts.publishing.decision_types import TargetProblem
from posts.services.changes import existing_assets_of_group
from posts.services.commit import plan_and_commit
from posts.states import FINISHED_GROUP_STATUSES, Certainty, TargetStatus, group_status_from_targets

NOT_PUBLISHED_PROBLEM = TargetProblem(
    "PLATFORM_REJECTED", "A person checked: the post was not published.", "Retry the post to send it again."
)


def resolve_unconfirmed_target(
    *,
    caller: Caller,
    post_group_id: str,
    target_id: str,
    permalink: str | None = None,
    dry_run: bool = False,
    plan_hash: str | None = None,
) -> Plan:
    """Resolve an unconfirmed post target: as published if a `permalink` is given, or else as failed and not charged.

    Raises NotFound, ScopeMissing, AgentModeForbids, AccountNotAllowed, ValidationFailed (target_id), InvalidState and
    PlanChanged.
    """
    return plan_and_commit(lambda: _plan(caller, post_group_id, target_id, permalink), dry_run=dry_run, plan_hash=plan_hash)


def _plan(caller: Caller, post_group_id: str, target_id: str, permalink: str | None) -> Plan:
    group = selectors.get_post_group(caller=caller, post_group_id=post_group_id, scope="posts.publish", write=True)
    refuse_caller_needing_approval(caller)
    after = copy_of_group(group)
    target = _unconfirmed_target(after, target_id)
    check_account_allowlist(caller, [target.account_id])
    now = timezone.now()
    target.certainty = Certainty.CONFIRMED if permalink else Certainty.DISPROVED
    target.status, target.error = target.certainty.final_status, None if permalink else NOT_PUBLISHED_PROBLEM.to_json()
    if permalink:
        target.permalink, target.published_at = permalink, now
    after.status = group_status_from_targets(each.status for each in after.targets.all())
    after.finished_at = now if after.status in FINISHED_GROUP_STATUSES else None
    change = GroupChange(
        before=group,
        after=after,
        moment=group.scheduled_at,
        due=now,
        assets=existing_assets_of_group(group),
        settles=(target,) if permalink else (),
        failures=() if permalink else (target,),
        events=outcome_event_kinds_and_targets(
            after.status, after.targets.all(), [target], ended=after.status != group.status
        ),
        audit={"target_id": target_id, "published": permalink is not None},
    )
    return Plan("posts.resolve", caller, group.workspace_id, [change])


def _unconfirmed_target(group: PostGroup, target_id: str) -> PostTarget:
    target = next((each for each in group.targets.all() if each.pk == target_id), None)
    if target is None:
        raise missing_or_foreign_id_error("target_id", "target in this group")
    if target.status != TargetStatus.UNCONFIRMED:
        raise InvalidState(f"The target is {target.status}. Only unconfirmed targets can be resolved.")
    return target
