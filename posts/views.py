"""Post groups over the API."""

from __future__ import annotations

import functools
from typing import Any

from config.api.operation import Call, Preview, Reply, operation
from config.api.scopes import any_of
from config.api.views import OperationViewSet
from posts import selectors, services
from posts.planning import WRITE_SCOPES
from posts.serializers import (
    CancelPostPreview,
    CreatePostPreview,
    CreatePostSerializer,
    PostCreatedSerializer,
    PostGroupEnvelope,
    RetryPostPreview,
    RetryPostSerializer,
    ValidatePostSerializer,
    ValidationSerializer,
)
from posts.services.create import PostPreview
from posts.services.validate import ANY_POSTS_SCOPE

SPEND_ERRORS = ("SPEND_CAP_EXCEEDED", "SOCIAL_URL_POST_CAP_EXCEEDED", "POSTS_PER_DAY_CAP_EXCEEDED")
RELEASE_ERRORS = (*SPEND_ERRORS, "AGENT_MODE_FORBIDS", "ACCOUNT_NOT_ALLOWED", "WEBHOOK_URL_NOT_ALLOWED")


def show_group(call: Call, post_group_id: str) -> dict[str, Any]:
    """A replay shows the group as it stands now."""
    return {"post_group": selectors.groups_with_targets().get(pk=post_group_id)}


def wait_for(post_group_id: str) -> dict[str, Any]:
    return {"post_group": services.wait_until_finished(post_group_id)}


class PostViewSet(OperationViewSet):
    @operation(
        "posts.validate",
        summary="Check content against its targets' platforms",
        scope=ANY_POSTS_SCOPE,
        body=ValidatePostSerializer,
        responses={200: ValidationSerializer},
        writes=False,
        errors=("ACCOUNT_NOT_ALLOWED",),
    )
    def validate(self, call: Call) -> Reply:
        return Reply(services.validate_post(caller=call.caller, **call.data))

    @operation(
        "posts.create",
        summary="Draft, schedule, publish or preview a post group",
        description="The scope is posts.draft for drafts, posts.schedule with `scheduled_at`, posts.publish otherwise; "
        "sandbox posts and dry runs need any one of them.",
        scope=WRITE_SCOPES,
        body=CreatePostSerializer,
        responses={201: PostCreatedSerializer},
        preview=CreatePostPreview,
        preview_status=201,
        idempotent="transaction",
        replay=show_group,
        errors=("CONTENT_INVALID", *RELEASE_ERRORS),
    )
    def create(self, call: Call) -> Reply | Preview:
        wait = call.data.pop("wait", False)
        made = services.create_post(caller=call.caller, dry_run=call.dry_run, **{"workspace_id": None, **call.data})
        if isinstance(made, PostPreview):
            plan = made.plan
            cost = sum(target.price_cents for target in plan.targets)
            would = {"status": plan.group.status, "targets": plan.targets, "cost_cents": cost}
            extra = {"validation": plan.validation, "spend_cap": made.spend_cap}
            request = {**call.data, "workspace_id": plan.group.workspace_id}
            return Preview(request, would, "would_create", extra=extra)
        finish = functools.partial(wait_for, made.id) if wait else None
        return Reply({"post_group": made}, 201, made.id, finish)

    @operation(
        "posts.get",
        summary="Read a post group and how far each target is",
        scope="posts.read",
        responses={200: PostGroupEnvelope},
    )
    def retrieve(self, call: Call, post_group_id: str) -> Reply:
        return Reply({"post_group": selectors.group_of(caller=call.caller, post_group_id=post_group_id)})

    @operation(
        "posts.cancel",
        summary="Cancel a draft or a scheduled post group",
        scope=any_of("posts.schedule", "posts.draft"),
        responses={200: PostGroupEnvelope},
        preview=CancelPostPreview,
        idempotent="transaction",
        replay=show_group,
        errors=("INVALID_STATE",),
    )
    def destroy(self, call: Call, post_group_id: str) -> Reply | Preview:
        group = services.cancel_post(caller=call.caller, post_group_id=post_group_id, dry_run=call.dry_run)
        if call.dry_run:
            return Preview({}, group, "would_update")
        return Reply({"post_group": group}, resource_id=group.id)

    @operation(
        "posts.retry",
        summary="Send the failed targets of a post group again",
        scope="posts.publish",
        body=RetryPostSerializer,
        responses={200: PostGroupEnvelope},
        preview=RetryPostPreview,
        idempotent="transaction",
        replay=show_group,
        errors=("INVALID_STATE", *RELEASE_ERRORS),
    )
    def retry(self, call: Call, post_group_id: str) -> Reply | Preview:
        wait = call.data.pop("wait", False)
        group = services.retry_post(caller=call.caller, post_group_id=post_group_id, dry_run=call.dry_run, **call.data)
        if call.dry_run:
            return Preview(call.data, group, "would_update")
        finish = functools.partial(wait_for, group.id) if wait else None
        return Reply({"post_group": group}, resource_id=group.id, finish=finish)
