"""The base serializers of the API: strict input, pages of lists, previews and error bodies."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar, TypeVar

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from config.api import fields

AnySerializer = TypeVar("AnySerializer", bound=serializers.BaseSerializer)
_SHARED: dict[type[serializers.BaseSerializer], Any] = {}


def shared_serializer_instance(serializer: type[AnySerializer]) -> AnySerializer:
    """Return the one instance of a serializer class that all requests share, because building its fields is slow.

    The instance has no data of its own. Threads share it and call only `run_validation` and `to_representation`.
    """
    if serializer not in _SHARED:
        made = serializer()
        _build_fields(made)
        _SHARED[serializer] = made
    shared: AnySerializer = _SHARED[serializer]
    return shared


def _build_fields(made: serializers.BaseSerializer) -> None:
    """Build all nested fields of a serializer that requests share, because threads must not build them at the same time."""
    for field in getattr(made, "fields", {}).values():
        _build_fields(getattr(field, "child", field))


class StrictSerializer(serializers.Serializer):
    """A serializer for JSON objects in request bodies, which refuses unknown fields and values that are not objects."""

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            raise serializers.ValidationError(
                {"non_field_errors": [serializers.ErrorDetail("Must be an object.", "wrong_type")]}
            )
        unknown = [name for name in data if name not in self.fields]
        if unknown:
            raise serializers.ValidationError(
                {name: serializers.ErrorDetail("Unknown field.", "unknown_field") for name in unknown}
            )
        return super().to_internal_value(data)


class QuerySerializer(StrictSerializer):
    """The base serializer for the query parameters of a URL, which refuses unknown parameters.

    A parameter that is given twice is refused earlier, by `validated_query` (operation_input.py).
    """


class WriteBody(StrictSerializer):
    """The base serializer of the bodies of write requests: `dry_run` asks for a dry run."""

    dry_run = fields.Boolean(required=False, help_text="Return what would happen, without changing anything.")


class DryRunQuery(QuerySerializer):
    """The base serializer of the query parameters of write requests: `dry_run` asks for a dry run."""

    dry_run = fields.QueryBoolean(required=False, help_text="The same as `dry_run` in the body.")


class RepairHintSerializer(serializers.Serializer):
    """The serializer of repair hints: the action that fixes an issue in a post's content, the field, and any new value."""

    action = serializers.CharField()
    field = serializers.CharField()
    value = serializers.CharField(required=False)
    explanation = serializers.CharField()


class ErrorDetailSerializer(serializers.Serializer):
    """The serializer of one item of an error's `details`: an invalid field, or an issue in a post's content."""

    field = serializers.CharField()
    code = serializers.CharField()
    message = serializers.CharField()
    severity = serializers.ChoiceField(choices=["error", "warning"], required=False)
    auto_fixable = serializers.BooleanField(required=False)
    repair_hint = RepairHintSerializer(required=False, allow_null=True)


@extend_schema_serializer(component_name="ErrorEnvelope")
class ErrorBodySerializer(serializers.Serializer):
    """The serializer of the error envelope: the body of every error answer."""

    code = serializers.CharField(help_text="The error code, for programs.")
    message = serializers.CharField(help_text="A description for people.")
    suggested_action = serializers.CharField(help_text="What the caller should do next.")
    auto_fixable = serializers.BooleanField(help_text="Whether the caller can repair the request by itself.")
    trace_id = serializers.CharField(help_text="The request's trace id; include it in logs and support requests.")
    details = ErrorDetailSerializer(many=True, required=False)
    plan = serializers.DictField(required=False, help_text="With PLAN_CHANGED of a stored plan: the new plan.")


class OneOf(serializers.Serializer):
    """The base serializer of a response with one of several schemas, chosen by the keys of the data."""

    alternatives: ClassVar[tuple[type[serializers.Serializer], ...]] = ()

    def to_representation(self, instance: Any) -> Any:
        """Serialize a response with that alternative serializer whose fields equal the keys of the data."""
        shared = map(shared_serializer_instance, self.alternatives)
        serializer = next(each for each in shared if each.fields.keys() == instance.keys())
        return serializer.to_representation(instance)


def one_of_serializer_class(name: str, *alternatives: type[serializers.Serializer]) -> type[serializers.Serializer]:
    """Return a new serializer class for a response that has one of these schemas."""
    return type(name, (OneOf,), {"alternatives": alternatives, "__module__": __name__})


def dry_run_serializer_class(
    name: str,
    *,
    request: type[serializers.Serializer] | None = None,
    extra: dict[str, serializers.Field] | None = None,
    **would: type[serializers.Serializer],
) -> type[serializers.Serializer]:
    """Return a new serializer class for dry-run responses with `would_create`, `would_update` or `would_delete`.

    A resource that would be created is shown without an `id`, because it does not have one yet.
    """
    if "would_create" in would:
        would["would_create"] = _without_id(would["would_create"])
    members: dict[str, Any] = {
        "dry_run": serializers.BooleanField(help_text="Always true."),
        "operation": serializers.CharField(help_text="The operation that was previewed, such as `agents.create`."),
        "request": (request or EmptyRequestEchoSerializer)(help_text="The input with all defaults resolved."),
        "plan_hash": serializers.CharField(help_text="Send it as `Plan-Hash`, so that exactly this is done or nothing."),
        **{key: serializer() for key, serializer in would.items()},
        "unchecked": serializers.ListField(
            child=serializers.CharField(), required=False, help_text="Checks that only the real call performs."
        ),
        **(extra or {}),
        "__module__": __name__,
    }
    return type(f"{name}Preview", (serializers.Serializer,), members)


@cache
def _without_id(serializer: type[serializers.Serializer]) -> type[serializers.Serializer]:
    """Return a copy of a serializer class without the field `id`, for dry runs, in which a new row has no id."""
    if not issubclass(serializer, serializers.ModelSerializer) or "id" not in serializer.Meta.fields:
        return serializer

    def get_fields(self: serializers.Serializer) -> dict[str, serializers.Field]:
        return {name: field for name, field in serializer.get_fields(self).items() if name != "id"}

    def to_representation(self: serializers.Serializer, instance: Any) -> Any:
        return {name: value for name, value in serializer.to_representation(self, instance).items() if name != "id"}

    members = {
        "get_fields": get_fields,
        "to_representation": to_representation,
        "__doc__": "The resource as it would be created, without an id.",
        "__module__": __name__,
    }
    return type(f"{serializer.__name__.removesuffix('Serializer')}ToCreate", (serializer,), members)


@extend_schema_field({"type": "object", "additionalProperties": False})
@extend_schema_serializer(component_name="EmptyRequest")
class EmptyRequestEchoSerializer(serializers.Serializer):
    """The field `request` in dry-run responses of operations that take no input: an empty object."""
