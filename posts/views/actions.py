"""API views for actions on an existing post group: cancel, retry, confirm, reject and resolve."""

from __future__ import annotations

from config.api.operation import Call, Preview, Reply, operation
from config.api.scopes import any_of
from config.api.views import OperationViewSet
from posts import services
from posts.serializers.requests import (
    ConfirmPostSerializer,
    RejectPostSerializer,
    ResolvePostSerializer,
    RetryPostSerializer,
)
from posts.serializers.responses import (
    CancelPostPreview,
    ConfirmPostPreview,
    PostGroupEnvelope,
    RejectPostPreview,
    ResolvePostPreview,
    RetryPostPreview,
)
from posts.services.review import REVIEWERS
from posts.views.replies import RELEASE_ERRORS, SPEND_ERRORS, group_change_reply, replay_post_group


class PostActionViewSet(OperationViewSet):
    @operation(
        "posts.cancel",
        summary="Cancel a draft or a scheduled post group",
        scope=any_of("posts.schedule", "posts.draft"),
        responses={200: PostGroupEnvelope},
        preview=CancelPostPreview,
        idempotent="transaction",
        replay=replay_post_group,
        errors=("ACCOUNT_NOT_ALLOWED", "INVALID_STATE"),
    )
    def cancel(self, call: Call, post_group_id: str) -> Reply | Preview:
        group = services.cancel_post(caller=call.caller, post_group_id=post_group_id, dry_run=call.dry_run)
        return group_change_reply(call, group)

    @operation(
        "posts.retry",
        summary="Retry the failed targets of a post group",
        scope="posts.publish",
        body=RetryPostSerializer,
        responses={200: PostGroupEnvelope},
        preview=RetryPostPreview,
        idempotent="transaction",
        replay=replay_post_group,
        errors=("INVALID_STATE", *RELEASE_ERRORS),
    )
    def retry(self, call: Call, post_group_id: str) -> Reply | Preview:
        wait = call.data.pop("wait", False)
        group = services.retry_post(caller=call.caller, post_group_id=post_group_id, dry_run=call.dry_run, **call.data)
        return group_change_reply(call, group, wait=wait)

    @operation(
        "posts.confirm",
        summary="Approve a draft or a group awaiting confirmation",
        description="For a signed-in owner or admin, or a workspace key; never for an agent.",
        scope=REVIEWERS,
        body=ConfirmPostSerializer,
        responses={200: PostGroupEnvelope},
        preview=ConfirmPostPreview,
        idempotent="transaction",
        replay=replay_post_group,
        errors=("FORBIDDEN", "INVALID_STATE", "CONFLICT", "CONTENT_INVALID", *SPEND_ERRORS),
    )
    def confirm(self, call: Call, post_group_id: str) -> Reply | Preview:
        group = services.confirm_post(
            caller=call.caller, post_group_id=post_group_id, dry_run=call.dry_run, **call.data
        )
        return group_change_reply(call, group)

    @operation(
        "posts.reject",
        summary="Reject a group awaiting confirmation",
        description="For a signed-in owner or admin, or a workspace key; never for an agent.",
        scope=REVIEWERS,
        body=RejectPostSerializer,
        responses={200: PostGroupEnvelope},
        preview=RejectPostPreview,
        idempotent="transaction",
        replay=replay_post_group,
        errors=("FORBIDDEN", "INVALID_STATE"),
    )
    def reject(self, call: Call, post_group_id: str) -> Reply | Preview:
        group = services.reject_post(caller=call.caller, post_group_id=post_group_id, dry_run=call.dry_run, **call.data)
        return group_change_reply(call, group)

    @operation(
        "posts.resolve",
        summary="Say whether an unconfirmed target was published",
        scope="posts.publish",
        body=ResolvePostSerializer,
        responses={200: PostGroupEnvelope},
        preview=ResolvePostPreview,
        idempotent="transaction",
        replay=replay_post_group,
        errors=("INVALID_STATE", "AGENT_MODE_FORBIDS", "ACCOUNT_NOT_ALLOWED"),
    )
    def resolve(self, call: Call, post_group_id: str) -> Reply | Preview:
        group = services.resolve_post(
            caller=call.caller,
            post_group_id=post_group_id,
            target_id=call.data["target_id"],
            permalink=call.data.get("permalink"),
            dry_run=call.dry_run,
        )
        return group_change_reply(call, group)
