"""Resolution of unconfirmed post targets: a person reports whether the post was published."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from config.api.caller import Caller, check_account_allowlist, missing_or_foreign_id_error
from config.api.errors import InvalidState
from posts import selectors
from posts.models import PostGroup, PostTarget
from posts.planning import refuse_agent_needing_approval
from posts.publishing.completion import lock_groups, settle_finished_targets
from posts.publishing.decision_types import TargetProblem
from posts.publishing.outcomes import problem_json
from posts.services.changes import audit_group_operation
from posts.states import FINISHED, TargetStatus, group_status_from_targets

NOT_PUBLISHED = TargetProblem(
    "PLATFORM_REJECTED", "A person checked: the post was not published.", "Retry the post to send it again."
)


def resolve_post(
    *, caller: Caller, post_group_id: str, target_id: str, permalink: str | None = None, dry_run: bool = False
) -> PostGroup:
    """Mark an unconfirmed post target as published if a `permalink` is given, or else as failed and not charged.

    Raises NotFound, ScopeMissing, AgentModeForbids, AccountNotAllowed, ValidationFailed (target_id), InvalidState.
    """
    group = selectors.get_post_group(caller=caller, post_group_id=post_group_id, scope="posts.publish", write=True)
    refuse_agent_needing_approval(caller)
    target = _unconfirmed_target(group, target_id)
    check_account_allowlist(caller, [target.account_id])
    status = TargetStatus.PUBLISHED if permalink else TargetStatus.FAILED
    changes: dict[str, object] = (
        {"permalink": permalink, "published_at": timezone.now(), "error": None, "maybe_out": False}
        if permalink
        else {"error": problem_json(NOT_PUBLISHED), "maybe_out": False}
    )
    with transaction.atomic():
        if dry_run:
            for name, value in {**changes, "status": status}.items():
                setattr(target, name, value)
            group.status = group_status_from_targets(each.status for each in group.targets.all())
            group.updated_at = timezone.now()
            group.finished_at = group.updated_at if group.status in FINISHED else None
        else:
            group = _resolve(group, target, status, changes)
        metadata = {"target_id": target_id, "published": permalink is not None}
        audit_group_operation(caller, group, "posts.resolve", dry_run=dry_run, metadata=metadata)
    return group


def _resolve(group: PostGroup, target: PostTarget, status: TargetStatus, changes: dict[str, object]) -> PostGroup:
    groups = lock_groups([group.pk])
    rows = PostTarget.objects.filter(pk=target.pk, status=TargetStatus.UNCONFIRMED)
    if not rows.update(status=status, updated_at=timezone.now(), **changes):
        raise _not_unconfirmed_error(target)
    target.status = status
    return settle_finished_targets([target], groups)[0]


def _unconfirmed_target(group: PostGroup, target_id: str) -> PostTarget:
    target = next((each for each in group.targets.all() if each.pk == target_id), None)
    if target is None:
        raise missing_or_foreign_id_error("target_id", "target in this group")
    if target.status != TargetStatus.UNCONFIRMED:
        raise _not_unconfirmed_error(target)
    return target


def _not_unconfirmed_error(target: PostTarget) -> InvalidState:
    return InvalidState(f"The target is {target.status}. Only unconfirmed targets can be resolved.")
