"""The post operations that can be planned: the request body of each, and how its plan is made.

The API's views commit these plans at once; POST /plans stores them, to be committed later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from config.api.caller import Caller
from config.api.serializers import StrictSerializer, WriteBody
from posts.content import PostEdit, PostInput
from posts.plan import Plan
from posts.serializers.queue import RetryMissedSerializer, UpdateQueueSerializer
from posts.serializers.requests import (
    ConfirmPostSerializer,
    CreateBatchSerializer,
    CreatePostSerializer,
    RejectPostSerializer,
    RetryPostSerializer,
    UpdatePostSerializer,
)
from posts.serializers.series import CreateSeriesSerializer
from posts.services.cancel import plan_cancel
from posts.services.commit import plan_and_commit
from posts.services.create import plan_create, plan_create_batch
from posts.services.missed import plan_retry_missed
from posts.services.queue import RequestedQueueChange, plan_queue_change
from posts.services.retry import plan_retry
from posts.services.review import plan_confirm, plan_reject
from posts.services.series import plan_and_commit_series, plan_create_series
from posts.services.update import plan_update


class MakePlan(Protocol):
    """The type of the functions that make the plan of a post operation, one for each planned operation."""

    def __call__(self, caller: Caller, post_group_id: str, fields: Mapping[str, Any], *, dry_run: bool) -> Plan:
        """Make the plan of a post operation from the validated fields of a request; `post_group_id` is "" for a new post."""


@dataclass(frozen=True)
class PlannableOperation:
    """A post operation that can be planned, with the serializer of its request body and the function that makes its plan.

    `changes_group`: it changes one stored post group, which its path names. `several_groups`: it answers with a list of them.
    `plan_and_commit` makes its plan by a function and commits it, or makes a dry run of it.
    """

    body: type[StrictSerializer]
    make_plan: MakePlan
    changes_group: bool = True
    several_groups: bool = False
    plan_and_commit: Callable[..., Plan] = plan_and_commit


def _create(caller: Caller, post_group_id: str, fields: Mapping[str, Any], *, dry_run: bool) -> Plan:
    return plan_create(caller, PostInput.from_request(fields), dry_run=dry_run)


def _create_batch(caller: Caller, post_group_id: str, fields: Mapping[str, Any], *, dry_run: bool) -> Plan:
    posts = [PostInput.from_request(post) for post in fields["posts"]]
    return plan_create_batch(caller, posts, workspace_id=fields.get("workspace_id"), dry_run=dry_run)


def _create_series(caller: Caller, post_group_id: str, fields: Mapping[str, Any], *, dry_run: bool) -> Plan:
    return plan_create_series(caller, fields, dry_run=dry_run)


def _update(caller: Caller, post_group_id: str, fields: Mapping[str, Any], *, dry_run: bool) -> Plan:
    return plan_update(caller, post_group_id, PostEdit.from_request(fields), dry_run=dry_run)


def _update_queue(caller: Caller, post_group_id: str, fields: Mapping[str, Any], *, dry_run: bool) -> Plan:
    return plan_queue_change(caller, RequestedQueueChange(**fields), dry_run=dry_run)


def _retry_missed(caller: Caller, post_group_id: str, fields: Mapping[str, Any], *, dry_run: bool) -> Plan:
    return plan_retry_missed(caller, **fields)


def _with_fields(plan: Callable[..., Plan]) -> MakePlan:
    """Wrap a post operation's plan function, which takes a request's fields as keyword arguments, as a MakePlan."""

    def make_plan(caller: Caller, post_group_id: str, fields: Mapping[str, Any], *, dry_run: bool) -> Plan:
        return plan(caller, post_group_id, **fields)

    return make_plan


PLANNED_OPERATIONS: Mapping[str, PlannableOperation] = {
    "posts.create": PlannableOperation(CreatePostSerializer, _create, changes_group=False),
    "posts.create_batch": PlannableOperation(CreateBatchSerializer, _create_batch, changes_group=False, several_groups=True),
    "posts.update": PlannableOperation(UpdatePostSerializer, _update),
    "posts.update_queue": PlannableOperation(UpdateQueueSerializer, _update_queue, changes_group=False, several_groups=True),
    "posts.retry_missed": PlannableOperation(RetryMissedSerializer, _retry_missed, changes_group=False, several_groups=True),
    "posts.cancel": PlannableOperation(WriteBody, _with_fields(plan_cancel)),
    "posts.retry": PlannableOperation(RetryPostSerializer, _with_fields(plan_retry)),
    "posts.confirm": PlannableOperation(ConfirmPostSerializer, _with_fields(plan_confirm)),
    "posts.reject": PlannableOperation(RejectPostSerializer, _with_fields(plan_reject)),
    "series.create": PlannableOperation(
        CreateSeriesSerializer, _create_series, changes_group=False, plan_and_commit=plan_and_commit_series
    ),
}
