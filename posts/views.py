"""API views of post groups: validate, create, list, search, read, edit, cancel, retry, confirm, reject and resolve."""

from __future__ import annotations

import functools
from typing import Any
from zoneinfo import ZoneInfo

from config.api.models import IdempotencyRecord
from config.api.operation import Call, DryRunReply, Reply, operation
from config.api.paging import Page, page_response_body
from config.api.policies import Access, Body, Idempotency
from config.api.scopes import any_scope_of
from config.api.views import OperationViewSet
from posts import day_lists, selectors, services
from posts.content import PostInput
from posts.dry_run_reply import dry_run_reply
from posts.local_time import local_day_window
from posts.operations import PLANNED_OPERATIONS
from posts.plan import Plan
from posts.plan_building import WRITE_SCOPES
from posts.post_group_json import format_timestamp, listed_post_json, post_group_json
from posts.serializers.requests import (
    ConfirmPostSerializer,
    CreateBatchSerializer,
    CreatePostSerializer,
    PostsOnDayQuery,
    RejectPostSerializer,
    ResolvePostSerializer,
    RetryPostSerializer,
    SearchPostsQuery,
    UpdatePostSerializer,
    ValidatePostSerializer,
)
from posts.serializers.responses import (
    CancelPostPreview,
    ConfirmPostPreview,
    CreateBatchPreview,
    CreatePostPreview,
    PostCreatedSerializer,
    PostGroupEnvelope,
    PostGroupsEnvelope,
    PostsOnDaySerializer,
    RejectPostPreview,
    ResolvePostPreview,
    RetryPostPreview,
    SearchedPostsSerializer,
    UpdatePostPreview,
    ValidationSerializer,
)
from posts.services.commit import plan_and_commit
from posts.services.create import ANY_POSTS_SCOPE
from posts.services.review import REVIEW_SCOPES
from posts.summaries import PostSummary

SPEND_ERRORS = ("SPEND_CAP_EXCEEDED", "PAYMENT_METHOD_REQUIRED", "SOCIAL_URL_POST_CAP_EXCEEDED", "POSTS_PER_DAY_CAP_EXCEEDED")
RELEASE_ERRORS = (*SPEND_ERRORS, "AGENT_MODE_FORBIDS", "ACCOUNT_NOT_ALLOWED", "WEBHOOK_URL_NOT_ALLOWED")


def _replay_post_group(call: Call, record: IdempotencyRecord) -> dict[str, Any]:
    """Return the API view's response to a repeated request (same idempotency key): the post group as it is now."""
    return {"post_group": selectors.groups_prefetching_targets().get(pk=record.resource_id)}


def response_to_repeated_batch(call: Call, record: IdempotencyRecord) -> dict[str, Any]:
    """Return the API view's response to a repeated batch request (same idempotency key): the post groups as they are now."""
    ids: list[str] = record.body or []
    found = selectors.groups_prefetching_targets().in_bulk(ids)
    return {"post_groups": [found[group_id] for group_id in ids]}


# An operation that changes a stored post group and returns it.
_group_operation = functools.partial(
    operation,
    responses={200: PostGroupEnvelope},
    idempotency=Idempotency("commit", replay=_replay_post_group),
)


class PostViewSet(OperationViewSet):
    @operation(
        "posts.validate",
        summary="Check content against its targets' platforms",
        access=Access(ANY_POSTS_SCOPE),
        body=Body(ValidatePostSerializer),
        responses={200: ValidationSerializer},
        writes=False,
        errors=("ACCOUNT_NOT_ALLOWED",),
    )
    def validate(self, call: Call) -> Reply:
        return Reply(services.validate_post(caller=call.caller, post=PostInput.from_request(call.data)))

    @operation(
        "posts.create",
        summary="Draft, schedule, publish or preview a post group",
        description="The scope is posts.draft for drafts, posts.schedule with `scheduled_at`, posts.publish otherwise; "
        "dry runs and sandbox posts (`sandbox: true`, or only sandbox accounts as targets) need any of them.",
        access=Access(WRITE_SCOPES),
        body=Body(CreatePostSerializer),
        responses={201: PostCreatedSerializer},
        preview=CreatePostPreview,
        preview_status=201,
        idempotency=Idempotency("commit", replay=_replay_post_group),
        errors=("CONTENT_INVALID", *RELEASE_ERRORS),
    )
    def create(self, call: Call) -> Reply | DryRunReply:
        return plan_and_commit_for_api_view(call, status=201)

    @operation(
        "posts.create_batch",
        summary="Create up to 100 post groups, all or none",
        access=Access(WRITE_SCOPES),
        body=Body(CreateBatchSerializer),
        responses={201: PostGroupsEnvelope},
        preview=CreateBatchPreview,
        preview_status=201,
        idempotency=Idempotency("commit", replay=response_to_repeated_batch),
        errors=("CONTENT_INVALID", *RELEASE_ERRORS),
    )
    def create_batch(self, call: Call) -> Reply | DryRunReply:
        return plan_and_commit_for_api_view(call, status=201)

    @operation(
        "posts.list",
        summary="List the posts of a local calendar day",
        access=Access("posts.read"),
        query=PostsOnDayQuery,
        responses={200: PostsOnDaySerializer},
    )
    def list_posts_of_day(self, call: Call) -> Reply:
        day, timezone = call.query.pop("date"), call.query.pop("timezone")
        window = local_day_window(day, timezone)
        page = day_lists.scheduled_posts_of_day(caller=call.caller, window=window, **call.query)
        start, end = map(format_timestamp, window)
        shown = {"date": day.isoformat(), "timezone": timezone, "window": {"start": start, "end": end}}
        return Reply(body={**_posts_json(page, timezone), **shown})

    @operation(
        "posts.search",
        summary="Search post groups",
        access=Access("posts.read"),
        query=SearchPostsQuery,
        responses={200: SearchedPostsSerializer},
    )
    def search(self, call: Call) -> Reply:
        page = selectors.search_posts(caller=call.caller, **call.query)
        timezone = selectors.workspace_timezone_name(workspace_id=call.query["workspace_id"])
        return Reply(body=_posts_json(page, timezone))

    @operation(
        "posts.get",
        summary="Read a post group with the status of each target",
        access=Access("posts.read"),
        responses={200: PostGroupEnvelope},
    )
    def retrieve(self, call: Call, post_group_id: str) -> Reply:
        group, targets = selectors.get_post_group_as_tuples(caller=call.caller, post_group_id=post_group_id)
        return Reply(body={"post_group": post_group_json(group, targets)})

    @_group_operation(
        "posts.update",
        summary="Edit a draft, a scheduled group, or a group awaiting confirmation",
        description="Raises content_version. An edit by an agent that needs confirmation sends the group back for approval.",
        access=Access(WRITE_SCOPES),
        body=Body(UpdatePostSerializer),
        preview=UpdatePostPreview,
        errors=("INVALID_STATE", "CONFLICT", "CONTENT_INVALID", *RELEASE_ERRORS),
    )
    def partial_update(self, call: Call, post_group_id: str) -> Reply | DryRunReply:
        return plan_and_commit_for_api_view(call, post_group_id)

    @_group_operation(
        "posts.cancel",
        summary="Cancel a draft or a scheduled post group",
        access=Access(any_scope_of("posts.schedule", "posts.draft")),
        preview=CancelPostPreview,
        errors=("ACCOUNT_NOT_ALLOWED", "INVALID_STATE"),
    )
    def cancel(self, call: Call, post_group_id: str) -> Reply | DryRunReply:
        return plan_and_commit_for_api_view(call, post_group_id)

    @_group_operation(
        "posts.retry",
        summary="Retry the failed targets of a post group",
        description="Works at once, even if other targets of the group have their times later; these stay as they are.",
        access=Access("posts.publish"),
        body=Body(RetryPostSerializer),
        preview=RetryPostPreview,
        errors=("INVALID_STATE", *RELEASE_ERRORS),
    )
    def retry(self, call: Call, post_group_id: str) -> Reply | DryRunReply:
        return plan_and_commit_for_api_view(call, post_group_id)

    @_group_operation(
        "posts.confirm",
        summary="Approve a draft or a group awaiting confirmation",
        description="For a signed-in owner or admin, or a workspace key; never for an agent.",
        access=Access(REVIEW_SCOPES),
        body=Body(ConfirmPostSerializer),
        preview=ConfirmPostPreview,
        errors=("FORBIDDEN", "INVALID_STATE", "CONFLICT", "CONTENT_INVALID", *SPEND_ERRORS),
    )
    def confirm(self, call: Call, post_group_id: str) -> Reply | DryRunReply:
        return plan_and_commit_for_api_view(call, post_group_id)

    @_group_operation(
        "posts.reject",
        summary="Reject a group awaiting confirmation",
        description="For a signed-in owner or admin, or a workspace key; never for an agent.",
        access=Access(REVIEW_SCOPES),
        body=Body(RejectPostSerializer),
        preview=RejectPostPreview,
        errors=("FORBIDDEN", "INVALID_STATE"),
    )
    def reject(self, call: Call, post_group_id: str) -> Reply | DryRunReply:
        return plan_and_commit_for_api_view(call, post_group_id)

    @_group_operation(
        "posts.resolve",
        idempotency=Idempotency("transaction", replay=_replay_post_group),
        summary="Say whether an unconfirmed target was published",
        access=Access("posts.publish"),
        body=Body(ResolvePostSerializer),
        preview=ResolvePostPreview,
        errors=("INVALID_STATE", "AGENT_MODE_FORBIDS", "ACCOUNT_NOT_ALLOWED"),
    )
    def resolve_unconfirmed_target(self, call: Call, post_group_id: str) -> Reply | DryRunReply:
        plan = services.resolve_unconfirmed_target(
            caller=call.caller,
            post_group_id=post_group_id,
            target_id=call.data["target_id"],
            permalink=call.data.get("permalink"),
            dry_run=call.dry_run,
            plan_hash=call.plan_hash,
        )
        return dry_run_reply(plan, call.data) if call.dry_run else _reply(plan, 200)


def plan_and_commit_for_api_view(call: Call, post_group_id: str = "", *, status: int = 200) -> Reply | DryRunReply:
    """Run the operation of an API view on posts: make its plan and commit it, or show the plan in a dry run."""
    wait = call.data.pop("wait", False)
    make_plan = PLANNED_OPERATIONS[call.operation.name].make_plan
    plan = plan_and_commit(
        lambda: make_plan(call.caller, post_group_id, call.data, dry_run=call.dry_run),
        dry_run=call.dry_run,
        plan_hash=call.plan_hash,
        stored_answer_writes=lambda plan: call.stored_answer_writes(_reply(plan, status)),
    )
    return dry_run_reply(plan, call.data) if call.dry_run else _reply(plan, status, wait=wait)


def _posts_json(page: Page[PostSummary], timezone: str) -> dict[str, Any]:
    zone = ZoneInfo(timezone)
    return page_response_body("posts", Page([listed_post_json(group, zone) for group in page.rows], page.next_cursor))


def _reply(plan: Plan, status: int, *, wait: bool = False) -> Reply:
    """Return the API view's response to a committed plan of posts. With `wait`, it is sent once the group is finished."""
    if plan.batch:
        groups = [change.after for change in plan.changes]
        return Reply({"post_groups": groups}, status, replay_data=[group.id for group in groups])
    group = plan.group
    reload = (lambda: {"post_group": services.wait_until_finished(group.id)}) if wait else None
    return Reply({"post_group": group}, status, group.id, reload_after_commit=reload)
