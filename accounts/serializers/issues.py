"""API serializer of the validation issues of posts and media assets."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from accounts.platforms.issues import Issue
from config.api.serializers import RepairHintSerializer


class IssueSerializer(serializers.Serializer):
    """The API representation of a validation issue of a post or media asset, with a hint how to repair the issue."""

    code = serializers.CharField()
    severity = serializers.ChoiceField(choices=["error", "warning"])
    field = serializers.CharField()
    message = serializers.CharField()
    auto_fixable = serializers.BooleanField()
    repair_hint = RepairHintSerializer(allow_null=True)

    def to_representation(self, instance: Issue) -> dict[str, Any]:
        return instance.as_json()
