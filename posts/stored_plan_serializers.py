"""API serializers of stored plans: of POST /plans, GET /plans/{id} and POST /plans/{id}/commit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from config.api import fields
from config.api.serializers import (
    OneOf,
    StrictSerializer,
    WriteBody,
    dry_run_serializer_class,
    shared_serializer_instance,
)
from posts.models import StoredPlan
from posts.operations import PLANNED_OPERATIONS
from posts.serializers import responses
from posts.serializers.queue import MovedPostsSerializer
from posts.serializers.responses import CreatedBySerializer
from posts.serializers.series import CreateSeriesPreview, SeriesEnvelope


class CreatePlanSerializer(StrictSerializer):
    """The API request to make a stored plan: an operation, the post group that it changes, and the body of the operation."""

    workspace_id = fields.Identifier("wrk", required=False, help_text="Default: the key's own workspace.")
    operation = fields.Choice(choices=list(PLANNED_OPERATIONS))
    post_group_id = fields.Identifier("pgr", required=False, help_text="For operations that change a post group.")
    request = serializers.DictField(help_text="The body of the operation, without `dry_run`.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        planned = PLANNED_OPERATIONS[attrs["operation"]]
        if planned.changes_group is not ("post_group_id" in attrs):
            message = "Name the post group." if planned.changes_group else "This operation creates its post groups."
            raise _error("post_group_id", message, "required" if planned.changes_group else "not_allowed")
        if "dry_run" in attrs["request"]:
            raise serializers.ValidationError({"request": _error("dry_run", "A plan is a dry run.", "unknown").detail})
        attrs["fields"] = validated_fields_of_request_to_plan(attrs["operation"], attrs["request"])
        own = attrs["fields"].get("workspace_id")
        if own and own != attrs.setdefault("workspace_id", own):
            raise _error("workspace_id", "The request names another workspace.", "mismatch")
        return attrs


class CommitPlanSerializer(WriteBody):
    """The API request to commit a stored plan."""

    wait = fields.Boolean(required=False, help_text="Respond when the group is finished, after 25 s at most.")


class PlanResultSerializer(serializers.Serializer):
    resource_type = serializers.CharField()
    resource_ids = serializers.ListField(child=serializers.CharField())


class StoredPlanSerializer(serializers.ModelSerializer):
    """The API representation of a stored plan."""

    status = serializers.ChoiceField(choices=["open", "committed", "expired"])
    preview = serializers.DictField(help_text="The answer to the operation's dry run.")
    created_by = CreatedBySerializer()
    result = PlanResultSerializer(allow_null=True)

    class Meta:
        model = StoredPlan
        fields = (
            *("id", "workspace_id", "operation", "post_group_id", "status", "hash", "preview", "created_by", "created_at"),
            *("expires_at", "result", "trace_id"),
        )


class PlanEnvelope(serializers.Serializer):
    plan = StoredPlanSerializer()


class ChangedByPlanSerializer(OneOf):
    """The API response to the commit of a stored plan that changes post groups: one, or a list of them."""

    alternatives = (responses.PostGroupEnvelope, responses.PostGroupsEnvelope)


@extend_schema_serializer(component_name="CommittedPlan")
class PlanCommitResponseSerializer(OneOf):
    """The API response to the commit of a stored plan that creates posts or a series: these, or the preview of a dry run."""

    alternatives_by_resource: ClassVar[Mapping[str, type[serializers.Serializer]]] = {
        "post_group": responses.PostCreatedSerializer,
        "post_groups": responses.PostGroupsEnvelope,
        "series": SeriesEnvelope,
    }
    alternatives = (
        *alternatives_by_resource.values(),
        responses.CreatePostPreview,
        responses.CreateBatchPreview,
        CreateSeriesPreview,
    )

    def to_representation(self, instance: Any) -> Any:
        serializer = self.alternatives_by_resource[next(iter(instance))]
        return shared_serializer_instance(serializer).to_representation(instance)


@extend_schema_field({"type": "object"})
class PlannedRequestEchoSerializer(serializers.Serializer):
    """The API representation of the request from which a plan was made, with its defaults filled in."""


@extend_schema_serializer(component_name="PlannedChange")
class PlannedPostsOrMovesSerializer(OneOf):
    """What a stored plan would change, in API responses: one post group, several, or the times of posts."""

    alternatives = (responses.PostGroupSerializer, responses.PostGroupsEnvelope, MovedPostsSerializer)


CommitPlanPreview = dry_run_serializer_class(
    "PlanCommit",
    request=PlannedRequestEchoSerializer,
    would_update=PlannedPostsOrMovesSerializer,
)


def validated_fields_of_request_to_plan(operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Validate the operation's body in a POST /plans request with the serializer of the operation.

    Raises ValidationError for fields of `request`.
    """
    try:
        given = shared_serializer_instance(PLANNED_OPERATIONS[operation].body).run_validation(request)
    except serializers.ValidationError as error:
        raise serializers.ValidationError({"request": error.detail}) from error
    return {name: value for name, value in given.items() if name != "wait"}


def _error(field: str, message: str, code: str) -> serializers.ValidationError:
    return serializers.ValidationError({field: [serializers.ErrorDetail(message, code)]})
