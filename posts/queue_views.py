"""API views of operations that change several scheduled or missed posts at once."""

from __future__ import annotations

from config.api.operation import Call, DryRunReply, Reply, operation
from config.api.policies import Access, Body, Idempotency
from config.api.views import OperationViewSet
from posts.plan_building import WRITE_SCOPES
from posts.serializers.queue import RetryMissedPreview, RetryMissedSerializer, UpdateQueuePreview, UpdateQueueSerializer
from posts.serializers.responses import PostGroupsEnvelope
from posts.views import RELEASE_ERRORS, plan_and_commit_for_api_view, response_to_repeated_batch


class QueueViewSet(OperationViewSet):
    @operation(
        "posts.update_queue",
        summary="Shuffle, move or skip the posts scheduled to an account",
        description="Up to 100 posts are edited as by PATCH /posts/{post_group_id}, all or none. Only their times for this "
        "account change. A dry run shows the old and the new time of each post. Posts that move by an amount of time leave "
        "their slots.",
        access=Access(WRITE_SCOPES),
        body=Body(UpdateQueueSerializer),
        responses={200: PostGroupsEnvelope},
        preview=UpdateQueuePreview,
        idempotency=Idempotency("commit", replay=response_to_repeated_batch),
        errors=("INVALID_STATE", "CONFLICT", "CONTENT_INVALID", *RELEASE_ERRORS),
    )
    def update_queue(self, call: Call) -> Reply | DryRunReply:
        return plan_and_commit_for_api_view(call)

    @operation(
        "posts.retry_missed",
        summary="Send missed posts now",
        description="Posts miss their times if the service is down, or the workspace stopped, for too long. Up to 100 are "
        "sent to the accounts for which they missed a time, all or none.",
        access=Access("posts.publish"),
        body=Body(RetryMissedSerializer),
        responses={200: PostGroupsEnvelope},
        preview=RetryMissedPreview,
        idempotency=Idempotency("commit", replay=response_to_repeated_batch),
        errors=("INVALID_STATE", *RELEASE_ERRORS),
    )
    def retry_missed(self, call: Call) -> Reply | DryRunReply:
        return plan_and_commit_for_api_view(call)
