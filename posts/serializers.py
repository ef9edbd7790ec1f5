"""Post writes, validation and previews on the wire."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from accounts.platforms.registry import PLATFORMS
from billing.serializers import SpendCapSerializer
from config.api import fields
from config.api.operation import WriteBody
from config.api.serializers import StrictList, StrictSerializer, preview_of
from posts.bodies import PostGroupSerializer
from posts.planning import issue_body
from posts.states import GroupStatus

MAX_TARGETS, MAX_MEDIA, MAX_TEXT = 50, 20, 100_000


class OptionsField(serializers.DictField):
    """A target's options, as its platform's capabilities describe them."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            raise serializers.ValidationError("Must be an object.", code="wrong_type")
        return data


class TargetInputSerializer(StrictSerializer):
    """One account to post to."""

    platform = fields.Choice(choices=list(PLATFORMS))
    connected_account_id = fields.Identifier("acc")
    text = fields.Text(
        required=False, allow_null=True, allow_blank=True, max_length=MAX_TEXT, help_text="Instead of the group's text."
    )
    options = OptionsField(required=False)


class MediaInputSerializer(StrictSerializer):
    """One asset of the media library."""

    media_id = fields.Identifier("med")
    alt_text = fields.Text(required=False, max_length=10_000, allow_blank=True)


class ContentSerializer(WriteBody):
    """What is posted where."""

    workspace_id = fields.Identifier("wrk", required=False, help_text="Default: the key's own workspace.")
    text = fields.Text(allow_blank=True, max_length=MAX_TEXT)
    targets = StrictList(child=TargetInputSerializer(), min_length=1, max_length=MAX_TARGETS)
    media = StrictList(child=MediaInputSerializer(), required=False, max_length=MAX_MEDIA)


class ValidatePostSerializer(ContentSerializer):
    """Content to be checked."""

    dry_run = None  # type: ignore[assignment]


class CreatePostSerializer(ContentSerializer):
    """A post group to be made: a draft, scheduled, or published at once."""

    scheduled_at = fields.Timestamp(required=False, help_text="When it goes out; without it, now.")
    draft = fields.Boolean(required=False, help_text="Keep it as a draft; its scheduled_at is then only a plan.")
    webhook_url = fields.Text(required=False, max_length=2048, help_text="Gets this group's events.")
    sandbox = fields.Boolean(required=False, help_text="Go the whole way at the simulator instead of the platforms.")
    wait = fields.Boolean(required=False, help_text="Answer when the group is finished, 25 s later at the most.")
    metadata = fields.StringMap(required=False, help_text="Your own notes; they come back in answers and events.")


class RetryPostSerializer(WriteBody):
    """How failed targets are sent again."""

    workspace_id = fields.Identifier("wrk", required=False)
    webhook_url = fields.Text(required=False, max_length=2048, help_text="Gets the group's events from now on.")
    scheduled_at = fields.Timestamp(required=False, help_text="When they go out; without it, now.")
    wait = fields.Boolean(required=False)
    include_unconfirmed = fields.Boolean(required=False, help_text="Also send what may be out already.")


class PostGroupEnvelope(serializers.Serializer):
    post_group = PostGroupSerializer()


class PostCreatedSerializer(serializers.Serializer):
    """The group; `sandbox: true` stands beside it when nothing of it is published for real."""

    sandbox = serializers.BooleanField(required=False)
    post_group = PostGroupSerializer()

    def to_representation(self, instance: Any) -> dict[str, Any]:
        shown = super().to_representation(instance)
        return {"sandbox": True, **shown} if shown["post_group"]["sandbox"] else shown


class RepairHintSerializer(serializers.Serializer):
    action = serializers.CharField()
    field = serializers.CharField()
    value = serializers.CharField(required=False)
    explanation = serializers.CharField()


class IssueSerializer(serializers.Serializer):
    """What a platform would say of the content, and what would repair it."""

    code = serializers.CharField()
    severity = serializers.ChoiceField(choices=["error", "warning"])
    field = serializers.CharField()
    message = serializers.CharField()
    auto_fixable = serializers.BooleanField()
    repair_hint = RepairHintSerializer(allow_null=True)

    def to_representation(self, instance: Any) -> dict[str, Any]:
        return issue_body(instance)


class TargetValidationSerializer(serializers.Serializer):
    platform = serializers.ChoiceField(choices=list(PLATFORMS))
    connected_account_id = serializers.CharField()
    valid = serializers.BooleanField()
    text_length = serializers.IntegerField(help_text="As this platform counts.")
    text_limit = serializers.IntegerField()
    issues = IssueSerializer(many=True)


class ValidationSerializer(serializers.Serializer):
    """The result of a validation."""

    valid = serializers.BooleanField()
    estimated_cost_cents = serializers.IntegerField()
    issues = IssueSerializer(many=True)
    targets = TargetValidationSerializer(many=True)


class PlannedTargetSerializer(serializers.Serializer):
    platform = serializers.ChoiceField(choices=list(PLATFORMS))
    connected_account_id = serializers.CharField(source="account_id")
    text = serializers.CharField(allow_null=True)
    options = serializers.DictField()
    cost_cents = serializers.IntegerField()


class PlannedGroupSerializer(serializers.Serializer):
    """A group as it would be made."""

    status = serializers.ChoiceField(choices=GroupStatus.choices)
    targets = PlannedTargetSerializer(many=True)
    cost_cents = serializers.IntegerField()


CreatePostPreview = preview_of(
    "PostCreate",
    request=CreatePostSerializer,
    would_create=PlannedGroupSerializer,
    extra={"validation": ValidationSerializer(), "spend_cap": SpendCapSerializer()},
)
CancelPostPreview = preview_of("PostCancel", would_update=PostGroupSerializer)
RetryPostPreview = preview_of("PostRetry", request=RetryPostSerializer, would_update=PostGroupSerializer)
