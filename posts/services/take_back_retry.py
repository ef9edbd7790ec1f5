"""Taking back a person's retry of a post before sending begins: its targets are failed or unconfirmed again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.dateparse import parse_datetime

from config.api.caller import Caller, check_account_allowlist
from posts import selectors
from posts.models import PostTarget
from posts.plan import GroupChange, Plan, copy_of_group
from posts.plan_building import refuse_caller_needing_approval
from posts.services.changes import (
    existing_assets_of_group,
    publishing_begun_error,
    withdraw_unsaved_target_from_publisher,
)
from posts.services.commit import plan_and_commit
from posts.states import FINISHED_GROUP_STATUSES, TargetStatus, group_status_from_targets

# What a retry changes of a target. `updated_at` says when it failed, so that an account is known to be connected again since.
FIELDS_CHANGED_BY_RETRY = (
    *("status", "error", "phase", "progress", "step_begun_at", "round_attempts", "scheduled_at", "slot", "updated_at"),
)


def state_before_retry(change: GroupChange) -> dict[str, Any]:
    """Return, as JSON data for `take_back_retry`, what a post group and its targets were before a retry.

    `change` is that of the retry's committed plan. With each target comes the fence that the retry has given it.
    """
    retried = [
        (before, after)
        for before, after in zip(change.targets_before, change.targets, strict=True)
        if before.fence != after.fence
    ]
    group = change.before
    return {
        "status": str(group.status) if group else "",
        "finished_at": _as_json(group.finished_at) if group else None,
        "targets": {
            before.id: {
                **{name: _as_json(getattr(before, name)) for name in FIELDS_CHANGED_BY_RETRY},
                "fence": after.fence,
            }
            for before, after in retried
        },
    }


def take_back_retry(*, caller: Caller, post_group_id: str, before: Mapping[str, Any]) -> Plan:
    """Take back the retry of a post: make the retried targets what they were `before`, all of them or none.

    Releases the money that the retry holds. Raises NotFound, ScopeMissing, Forbidden (an editor), AccountNotAllowed,
    WorkspacePaused, and InvalidState once a worker or a person has done anything with one of the targets.
    """
    return plan_and_commit(lambda: _plan(caller, post_group_id, before))


def _plan(caller: Caller, post_group_id: str, before: Mapping[str, Any]) -> Plan:
    group = selectors.get_post_group(caller=caller, post_group_id=post_group_id, scope="posts.publish", write=True)
    refuse_caller_needing_approval(caller)
    check_account_allowlist(caller, group.account_ids)
    after = copy_of_group(group)
    targets = {target.id: target for target in after.targets.all()}
    former: Mapping[str, Mapping[str, Any]] = before["targets"]
    # A claim raises the fence, and so does every change by a person.
    if any(pk not in targets or targets[pk].fence != values["fence"] for pk, values in former.items()):
        raise publishing_begun_error(group)
    for pk, values in former.items():
        withdraw_unsaved_target_from_publisher(targets[pk])
        _set_former_values(targets[pk], values)
    after.status = group_status_from_targets(target.status for target in targets.values())
    ends = after.status in FINISHED_GROUP_STATUSES
    is_as_before = after.status == before["status"]  # other targets may have been published or resolved meanwhile
    after.finished_at = timezone.now() if ends else None
    if is_as_before:
        after.finished_at = parse_datetime(before["finished_at"]) if before["finished_at"] else None
    change = GroupChange(
        before=group,
        after=after,
        moment=group.scheduled_at,
        due=timezone.now(),
        assets=existing_assets_of_group(group),
        releases=[targets[pk] for pk in former if targets[pk].status == TargetStatus.FAILED],
        events=((f"post.{after.status}", None),) if ends and not is_as_before else (),
        audit={"taken_back": True},
    )
    return Plan("posts.retry", caller, group.workspace_id, [change])


def _set_former_values(target: PostTarget, values: Mapping[str, Any]) -> None:
    for field in PostTarget._meta.concrete_fields:
        if field.name in FIELDS_CHANGED_BY_RETRY:
            setattr(target, field.name, field.to_python(values[field.name]))


def _as_json(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
