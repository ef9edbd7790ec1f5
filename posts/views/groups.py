"""API views to validate, create, list, search, read and edit post groups."""

from __future__ import annotations

from typing import Any

from config.api.operation import Call, Preview, Reply, operation
from config.api.paging import Page
from posts import selectors, services
from posts.local_day import local_day_window
from posts.planning import WRITE_SCOPES, PostPlan
from posts.serializers.requests import (
    CreateBatchSerializer,
    CreatePostSerializer,
    PostsOnDayQuery,
    SearchPostsQuery,
    UpdatePostSerializer,
    ValidatePostSerializer,
)
from posts.serializers.responses import (
    CreateBatchPreview,
    CreatePostPreview,
    PostCreatedSerializer,
    PostGroupEnvelope,
    PostGroupsEnvelope,
    PostsOnDaySerializer,
    SearchedPostsSerializer,
    UpdatePostPreview,
    ValidationSerializer,
)
from posts.services.batch import BatchPreview
from posts.services.create import PostPreview
from posts.services.validate import ANY_POSTS_SCOPE
from posts.summaries import PostSummary
from posts.views.actions import PostActionViewSet
from posts.views.replies import RELEASE_ERRORS, group_change_reply, group_reply, replay_post_group, replay_post_groups


class PostViewSet(PostActionViewSet):
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
        "dry runs and sandbox posts (`sandbox: true`, or only sandbox accounts as targets) need any of them.",
        scope=WRITE_SCOPES,
        body=CreatePostSerializer,
        responses={201: PostCreatedSerializer},
        preview=CreatePostPreview,
        preview_status=201,
        idempotent="transaction",
        replay=replay_post_group,
        errors=("CONTENT_INVALID", *RELEASE_ERRORS),
    )
    def create(self, call: Call) -> Reply | Preview:
        wait = call.data.pop("wait", False)
        made = services.create_post(caller=call.caller, dry_run=call.dry_run, **{"workspace_id": None, **call.data})
        if isinstance(made, PostPreview):
            request = {**call.data, "workspace_id": made.plan.group.workspace_id}
            extra = {"validation": made.plan.validation, "spend_cap": made.spend_cap}
            return Preview(request, _planned(made.plan), "would_create", extra=extra)
        return group_reply(made, status=201, wait=wait)

    @operation(
        "posts.create_batch",
        summary="Create up to 100 post groups, all or none",
        scope=WRITE_SCOPES,
        body=CreateBatchSerializer,
        responses={201: PostGroupsEnvelope},
        preview=CreateBatchPreview,
        preview_status=201,
        idempotent="transaction",
        replay=replay_post_groups,
        errors=("CONTENT_INVALID", *RELEASE_ERRORS),
    )
    def create_batch(self, call: Call) -> Reply | Preview:
        made = services.create_batch(caller=call.caller, dry_run=call.dry_run, **call.data)
        if isinstance(made, BatchPreview):
            planned = [_planned(plan) for plan in made.plans]
            would = {"post_groups": planned, "cost_cents": sum(each["cost_cents"] for each in planned)}
            extra = {"validations": [plan.validation for plan in made.plans], "spend_cap": made.spend_cap}
            return Preview({**call.data, "workspace_id": made.workspace_id}, would, "would_create", extra=extra)
        return Reply({"post_groups": made}, 201, replay_data=[group.id for group in made])

    @operation(
        "posts.list",
        summary="List the posts of a local calendar day",
        scope="posts.read",
        query=PostsOnDayQuery,
        responses={200: PostsOnDaySerializer},
    )
    def list(self, call: Call) -> Reply:
        day, timezone = call.query.pop("date"), call.query.pop("timezone")
        window = local_day_window(day, timezone)
        page = selectors.posts_on_day(caller=call.caller, window=window, **call.query)
        shown = {"date": day, "window": {"start": window[0], "end": window[1]}}
        return Reply({**shown, **_page(page, timezone)})

    @operation(
        "posts.search",
        summary="Search post groups",
        scope="posts.read",
        query=SearchPostsQuery,
        responses={200: SearchedPostsSerializer},
    )
    def search(self, call: Call) -> Reply:
        page = selectors.search_posts(caller=call.caller, **call.query)
        return Reply(_page(page, selectors.workspace_timezone(workspace_id=call.query["workspace_id"])))

    @operation(
        "posts.get",
        summary="Read a post group with the status of each target",
        scope="posts.read",
        responses={200: PostGroupEnvelope},
    )
    def retrieve(self, call: Call, post_group_id: str) -> Reply:
        return Reply({"post_group": selectors.get_post_group(caller=call.caller, post_group_id=post_group_id)})

    @operation(
        "posts.update",
        summary="Edit a draft, a scheduled group, or a group awaiting confirmation",
        description="Raises content_version. An edit by an agent that needs confirmation sends the group back for approval.",
        scope=WRITE_SCOPES,
        body=UpdatePostSerializer,
        responses={200: PostGroupEnvelope},
        preview=UpdatePostPreview,
        idempotent="transaction",
        replay=replay_post_group,
        errors=("INVALID_STATE", "CONFLICT", "CONTENT_INVALID", *RELEASE_ERRORS),
    )
    def partial_update(self, call: Call, post_group_id: str) -> Reply | Preview:
        group = services.update_post(caller=call.caller, post_group_id=post_group_id, dry_run=call.dry_run, **call.data)
        return group_change_reply(call, group)


def _planned(plan: PostPlan) -> dict[str, Any]:
    cost = sum(target.price_cents for target in plan.targets)
    return {"status": plan.group.status, "targets": plan.targets, "cost_cents": cost}


def _page(page: Page[PostSummary], timezone: str) -> dict[str, Any]:
    return {"posts": page.rows, "next_cursor": page.next_cursor, "timezone": timezone}
