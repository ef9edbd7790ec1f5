"""A post group as it stands on the wire, in answers and in events alike.

The fields declare the form; what fills them is written out, since a list of a day's posts spent most of its time in
asking each field anew how it is read. A test holds both equal.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from rest_framework import serializers

from accounts.platforms.registry import PLATFORMS
from config.api.serializers import shared_serializer
from posts.models import PostGroup, PostTarget
from posts.states import GroupStatus, TargetStatus


class TargetErrorSerializer(serializers.Serializer):
    """Why a target is not out, or what is missing about one that is; the same five fields as any error."""

    code = serializers.CharField()
    message = serializers.CharField()
    suggested_action = serializers.CharField()
    auto_fixable = serializers.BooleanField()
    trace_id = serializers.CharField()


class TargetSerializer(serializers.ModelSerializer):
    """One account of a group, and how far its publication is."""

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
        return {
            "id": target.id,
            "platform": target.platform,
            "connected_account_id": target.account_id,
            "status": str(target.status),
            "text": target.text,
            "options": target.options,
            "external_id": target.external_id,
            "permalink": target.permalink,
            "attempts": target.attempts,
            "next_attempt_at": told_time(target.due_at),
            "published_at": told_time(target.published_at),
            "cost_cents": target.cost_cents,
            "error": target.error,
        }


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
        show_target = shared_serializer(TargetSerializer).to_representation
        return {
            "id": group.id,
            "workspace_id": group.workspace_id,
            "status": str(group.status),
            "content_version": group.content_version,
            "text": group.text,
            "media": group.media,
            "scheduled_at": told_time(group.scheduled_at),
            "sandbox": group.sandbox,
            "webhook_url": group.webhook_url,
            "metadata": group.metadata,
            "cost_cents": group.cost_cents,
            "created_by": group.created_by,
            "rejection_reason": group.rejection_reason,
            "trace_id": group.trace_id,
            "created_at": told_time(group.created_at),
            "updated_at": told_time(group.updated_at),
            "finished_at": told_time(group.finished_at),
            "targets": [show_target(target) for target in group.targets.all()],
        }


def told_time(value: datetime | None) -> str | None:
    """A stored time as `fields.Timestamp` shows it, always in UTC."""
    return None if value is None else value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def group_body(group: PostGroup) -> dict[str, Any]:
    """The group as plain JSON values."""
    body: dict[str, Any] = shared_serializer(PostGroupSerializer).to_representation(group)
    return body
