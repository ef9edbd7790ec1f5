"""Serializers that declare the fields of a post group and its targets; posts/post_group_json.py produces the values."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from accounts.platforms.registry import PLATFORMS
from posts.models import PostGroup, PostTarget
from posts.post_group_json import post_group_json, post_target_json
from posts.states import GroupStatus, TargetStatus


class TargetErrorSerializer(serializers.Serializer):
    """Why a target failed, or what is missing from a published one; the same five fields as every error."""

    code = serializers.CharField()
    message = serializers.CharField()
    suggested_action = serializers.CharField()
    auto_fixable = serializers.BooleanField()
    trace_id = serializers.CharField()


class TargetSerializer(serializers.ModelSerializer):
    """One account of a post group, with its publishing status and result."""

    platform = serializers.ChoiceField(choices=list(PLATFORMS))
    status = serializers.ChoiceField(choices=TargetStatus.choices)
    connected_account_id = serializers.CharField(source="account_id")
    options = serializers.DictField()
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
    """A post group with its targets."""

    status = serializers.ChoiceField(choices=GroupStatus.choices)
    media = AttachedMediaSerializer(many=True)
    metadata = serializers.DictField(child=serializers.CharField())
    cost_cents = serializers.IntegerField()
    created_by = CreatedBySerializer()
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
            "created_at",
            "updated_at",
            "finished_at",
            "targets",
        )

    def to_representation(self, group: PostGroup) -> dict[str, Any]:
        return post_group_json(group)
