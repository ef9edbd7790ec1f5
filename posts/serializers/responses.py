"""API serializers for the responses about posts; posts/post_group_json.py produces the values of a post group."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from accounts.platforms.registry import PLATFORMS
from accounts.serializers.issues import IssueSerializer
from billing.serializers import SpendCapSerializer
from config.api.serializers import dry_run_serializer_class
from posts.models import PostGroup, PostTarget
from posts.post_group_json import listed_post_json, post_group_json, post_target_json
from posts.serializers.requests import (
    ConfirmPostSerializer,
    CreateBatchSerializer,
    CreatePostSerializer,
    RejectPostSerializer,
    ResolvePostSerializer,
    RetryPostSerializer,
    UpdatePostSerializer,
)
from posts.states import GroupStatus, TargetStatus
from posts.summaries import PostSummary
from posts.validation import Validation


class TargetErrorSerializer(serializers.Serializer):
    """The error of a post target in API responses: why publishing failed, or what is missing from the published post."""

    code = serializers.CharField()
    message = serializers.CharField()
    suggested_action = serializers.CharField()
    auto_fixable = serializers.BooleanField()
    trace_id = serializers.CharField()


class TargetSerializer(serializers.ModelSerializer):
    """The API representation of a post target: one account of a post group, with its publishing status and result."""

    platform = serializers.ChoiceField(choices=list(PLATFORMS))
    status = serializers.ChoiceField(choices=TargetStatus.choices)
    connected_account_id = serializers.CharField(source="account_id")
    options = serializers.DictField()
    scheduled_at = serializers.DateTimeField(
        allow_null=True, help_text="The time that was chosen for this account; null if it is published at once."
    )
    next_attempt_at = serializers.DateTimeField(source="due_at", allow_null=True)
    cost_cents = serializers.IntegerField()
    error = TargetErrorSerializer(allow_null=True)

    class Meta:
        model = PostTarget
        fields = (
            "id",
            "platform",
            "connected_account_id",
            "status",
            "text",
            "options",
            "scheduled_at",
            "slot",
            "external_id",
            "permalink",
            "attempts",
            "next_attempt_at",
            "published_at",
            "cost_cents",
            "error",
        )

    def to_representation(self, target: PostTarget) -> dict[str, Any]:
        return post_target_json(target)


class AttachedMediaSerializer(serializers.Serializer):
    media_id = serializers.CharField()
    alt_text = serializers.CharField(required=False)


class CreatedBySerializer(serializers.Serializer):
    actor_type = serializers.CharField()
    actor_id = serializers.CharField()


class PostGroupSerializer(serializers.ModelSerializer):
    """The API representation of a post group with its targets."""

    status = serializers.ChoiceField(choices=GroupStatus.choices)
    media = AttachedMediaSerializer(many=True)
    scheduled_at = serializers.DateTimeField(
        allow_null=True, help_text="The earliest time of the unfinished targets; of all if they are finished."
    )
    metadata = serializers.DictField(child=serializers.CharField())
    cost_cents = serializers.IntegerField()
    created_by = CreatedBySerializer()
    plan_hash = serializers.CharField(allow_null=True, help_text="The hash of the plan that was committed last.")
    approval_url = serializers.CharField(
        allow_null=True, help_text="The page on which a person approves or rejects the group, while it awaits that."
    )
    series_id = serializers.CharField(allow_null=True, help_text="The series that made the group, if any.")
    targets = TargetSerializer(many=True)

    class Meta:
        model = PostGroup
        fields = (
            "id",
            "workspace_id",
            "status",
            "content_version",
            "text",
            "media",
            "scheduled_at",
            "sandbox",
            "webhook_url",
            "metadata",
            "cost_cents",
            "created_by",
            "rejection_reason",
            "trace_id",
            "plan_hash",
            "approval_url",
            "series_id",
            "created_at",
            "updated_at",
            "finished_at",
            "targets",
        )

    def to_representation(self, group: PostGroup) -> dict[str, Any]:
        return post_group_json(group, group.targets.all())


class PostGroupEnvelope(serializers.Serializer):
    post_group = PostGroupSerializer()


class PostCreatedSerializer(serializers.Serializer):
    """The API response with a created post group; `sandbox: true` is added if all of its targets are simulated."""

    sandbox = serializers.BooleanField(required=False)
    post_group = PostGroupSerializer()

    def to_representation(self, instance: Any) -> dict[str, Any]:
        shown = super().to_representation(instance)
        return {"sandbox": True, **shown} if shown["post_group"]["sandbox"] else shown


@extend_schema_serializer(component_name="Poll")
class ValidatedPollSerializer(serializers.Serializer):
    """The poll in the API response to the validation of a post; the post's text is the question."""

    choices = serializers.ListField(child=serializers.CharField())
    duration_minutes = serializers.IntegerField(allow_null=True, help_text="Null if the poll stays open.")
    multiple = serializers.BooleanField(help_text="Whether a voter may choose several answers.")


class TargetValidationSerializer(serializers.Serializer):
    platform = serializers.ChoiceField(choices=list(PLATFORMS), source="target.account.platform")
    connected_account_id = serializers.CharField(source="target.account.id")
    valid = serializers.BooleanField()
    text_length = serializers.IntegerField(help_text="Counted by the platform's rules.")
    text_limit = serializers.IntegerField(source="target.text_limit")
    link_card_url = serializers.CharField(
        source="target.link_card_url",
        allow_null=True,
        help_text="The page for which this service makes a link card; null without a card.",
    )
    poll = ValidatedPollSerializer(
        source="target.poll", allow_null=True, help_text="The poll in the option `poll`; null without a poll."
    )
    issues = IssueSerializer(many=True)


class ValidationSerializer(serializers.Serializer):
    """The API response to the validation of a post: the issues in its content, and what publishing it would cost."""

    valid = serializers.BooleanField()
    estimated_cost_cents = serializers.IntegerField()
    issues = IssueSerializer(many=True)
    targets = TargetValidationSerializer(many=True)

    def to_representation(self, validation: Validation) -> dict[str, Any]:
        return validation.as_json()


class PlannedTargetSerializer(serializers.Serializer):
    platform = serializers.ChoiceField(choices=list(PLATFORMS))
    connected_account_id = serializers.CharField(source="account_id")
    text = serializers.CharField(allow_null=True)
    options = serializers.DictField()
    scheduled_at = serializers.DateTimeField(allow_null=True)
    slot = serializers.BooleanField()
    cost_cents = serializers.IntegerField()


class PlannedGroupSerializer(serializers.Serializer):
    """The post group that would be created, in the API response to a dry run."""

    status = serializers.ChoiceField(choices=GroupStatus.choices)
    targets = PlannedTargetSerializer(many=True)
    cost_cents = serializers.IntegerField()


class PostGroupsEnvelope(serializers.Serializer):
    post_groups = PostGroupSerializer(many=True)


class PlannedGroupsSerializer(serializers.Serializer):
    """The post groups that would be created, in the API response to a dry run of a batch."""

    post_groups = PlannedGroupSerializer(many=True)
    cost_cents = serializers.IntegerField()


class ListedTargetSerializer(serializers.Serializer):
    id = serializers.CharField()
    platform = serializers.ChoiceField(choices=list(PLATFORMS))
    connected_account_id = serializers.CharField(source="account_id")
    status = serializers.ChoiceField(choices=TargetStatus.choices)


class ListedPostSerializer(serializers.Serializer):
    """The summary of a post group in the API response with a list, with local times in the list's time zone."""

    id = serializers.CharField()
    status = serializers.ChoiceField(choices=GroupStatus.choices)
    scheduled_at = serializers.DateTimeField(allow_null=True)
    local_time = serializers.CharField(allow_null=True, help_text="HH:MM; null for a group without a time.")
    text = serializers.CharField()
    sandbox = serializers.BooleanField()
    targets = ListedTargetSerializer(many=True)

    def to_representation(self, instance: tuple[PostSummary, ZoneInfo]) -> dict[str, Any]:
        return listed_post_json(*instance)


class SearchedPostsSerializer(serializers.Serializer):
    """The API response with a page of found post groups; their local times are in the time zone `timezone`."""

    posts = ListedPostSerializer(many=True)
    next_cursor = serializers.CharField(allow_null=True)

    def to_representation(self, instance: dict[str, Any]) -> dict[str, Any]:
        zone = ZoneInfo(instance["timezone"])
        return super().to_representation({**instance, "posts": [(group, zone) for group in instance["posts"]]})


class WindowSerializer(serializers.Serializer):
    start = serializers.DateTimeField()
    end = serializers.DateTimeField()


class PostsOnDaySerializer(SearchedPostsSerializer):
    """The API response with the posts that are scheduled on one day in a time zone."""

    date = serializers.DateField()
    timezone = serializers.CharField()
    window = WindowSerializer()


CreatePostPreview = dry_run_serializer_class(
    "PostCreate",
    request=CreatePostSerializer,
    would_create=PlannedGroupSerializer,
    extra={"validation": ValidationSerializer(), "spend_cap": SpendCapSerializer()},
)
CreateBatchPreview = dry_run_serializer_class(
    "PostBatchCreate",
    request=CreateBatchSerializer,
    would_create=PlannedGroupsSerializer,
    extra={"validations": ValidationSerializer(many=True), "spend_cap": SpendCapSerializer()},
)
CancelPostPreview = dry_run_serializer_class("PostCancel", would_update=PostGroupSerializer)
RetryPostPreview = dry_run_serializer_class("PostRetry", request=RetryPostSerializer, would_update=PostGroupSerializer)
UpdatePostPreview = dry_run_serializer_class("PostUpdate", request=UpdatePostSerializer, would_update=PostGroupSerializer)
ConfirmPostPreview = dry_run_serializer_class("PostConfirm", request=ConfirmPostSerializer, would_update=PostGroupSerializer)
RejectPostPreview = dry_run_serializer_class("PostReject", request=RejectPostSerializer, would_update=PostGroupSerializer)
ResolvePostPreview = dry_run_serializer_class("PostResolve", request=ResolvePostSerializer, would_update=PostGroupSerializer)
