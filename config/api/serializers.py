"""Strict serializers: what is not declared is refused."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar, TypeVar, cast

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from config.api import fields

Shape = TypeVar("Shape", bound=serializers.BaseSerializer)


def shape(serializer: type[Shape]) -> Shape:
    """The one serializer of a class that checks and shows everything: making its fields anew costs more than using them.

    It holds no input and no answer of its own, so threads share it: only `run_validation` and `to_representation` are
    called.
    """
    made: Shape = _made_once(cast(Any, serializer))
    return made


@cache
def _made_once(serializer: Any) -> Any:
    made = serializer()
    _prepare(made)
    return made


def _prepare(made: serializers.BaseSerializer) -> None:
    """Make the fields now, all the way down, so that no two threads make them at once."""
    for field in getattr(made, "fields", {}).values():
        _prepare(getattr(field, "child", field))


class StrictSerializer(serializers.Serializer):
    """A body, or an object in one, whose unknown fields are errors and whose required objects are objects."""

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            raise serializers.ValidationError(
                {"non_field_errors": [serializers.ErrorDetail("Must be an object.", "wrong_type")]}
            )
        unknown = [name for name in data if name not in self.fields]
        if unknown:
            raise serializers.ValidationError(
                {name: serializers.ErrorDetail("This field is not known here.", "unknown_field") for name in unknown}
            )
        return super().to_internal_value(data)


class StrictList(serializers.ListField):
    """A JSON array of one kind of thing."""

    def to_internal_value(self, data: Any) -> list[Any]:
        if not isinstance(data, list):
            raise serializers.ValidationError("Must be an array.", code="wrong_type")
        return super().to_internal_value(data)


class QuerySerializer(StrictSerializer):
    """Query parameters; each may stand once."""


class PageQuery(QuerySerializer):
    """The query of a list."""

    limit = fields.QueryInteger(
        min_value=1, max_value=200, default=50, help_text="How many rows at the most (1 to 200, default 50)."
    )
    cursor = fields.Text(required=False, help_text="`next_cursor` of the page before.")


class RepairHintSerializer(serializers.Serializer):
    """What would put a content issue right, usable as it stands."""

    action = serializers.CharField()
    field = serializers.CharField()
    value = serializers.CharField(required=False)
    explanation = serializers.CharField()


class ErrorDetailSerializer(serializers.Serializer):
    """One field that is not right; on CONTENT_INVALID the whole issue as POST /posts/validate tells it."""

    field = serializers.CharField()
    code = serializers.CharField()
    message = serializers.CharField()
    severity = serializers.ChoiceField(choices=["error", "warning"], required=False)
    auto_fixable = serializers.BooleanField(required=False)
    repair_hint = RepairHintSerializer(required=False, allow_null=True)


class ErrorEnvelope(serializers.Serializer):
    """Every answer that is not a success."""

    code = serializers.CharField(help_text="Machine-readable; branch on it.")
    message = serializers.CharField(help_text="For people.")
    suggested_action = serializers.CharField(help_text="What the caller should do.")
    auto_fixable = serializers.BooleanField(help_text="Whether the caller can repair the request by itself.")
    trace_id = serializers.CharField(help_text="Keep it in logs and support messages.")
    details = ErrorDetailSerializer(many=True, required=False)


def page_of(name: str, plural: str, item: type[serializers.BaseSerializer]) -> type[serializers.Serializer]:
    """The serializer class of a list: `{"<plural>": [...], "next_cursor": string|null}`."""
    members = {
        plural: item(many=True),
        "next_cursor": serializers.CharField(allow_null=True, help_text="Give it as `cursor` for the next page."),
        "__module__": __name__,
    }
    return type(name, (serializers.Serializer,), members)


class OneOf(serializers.Serializer):
    """An answer in one of several forms, told apart by their fields; see `one_of`."""

    forms: ClassVar[tuple[type[serializers.Serializer], ...]] = ()

    def to_representation(self, instance: Any) -> Any:
        """The form that has these fields shows them."""
        form = next(form for form in self.forms if shape(form).fields.keys() == instance.keys())
        return shape(form).to_representation(instance)


def one_of(name: str, *forms: type[serializers.Serializer]) -> type[serializers.Serializer]:
    """The serializer class of an answer that has one of these forms; it is given as a dict with all fields of the form."""
    return type(name, (OneOf,), {"forms": forms, "__module__": __name__})


def preview_of(
    name: str,
    *,
    request: type[serializers.Serializer] | None = None,
    extra: dict[str, serializers.Field] | None = None,
    **would: type[serializers.Serializer],
) -> type[serializers.Serializer]:
    """The serializer class of a dry run's answer; `would` is one of would_create, would_update, would_delete.

    What would be created is shown without an `id`: it will have another than the preview could tell.
    """
    if "would_create" in would:
        would["would_create"] = _unmade(would["would_create"])
    members: dict[str, Any] = {
        "dry_run": serializers.BooleanField(help_text="Always true."),
        "operation": serializers.CharField(help_text="The operation that was previewed, such as `agents.create`."),
        "request": (request or EmptyRequest)(help_text="The input with all defaults resolved."),
        **{key: serializer() for key, serializer in would.items()},
        "unchecked": serializers.ListField(
            child=serializers.CharField(), required=False, help_text="What only the real call can find out."
        ),
        **(extra or {}),
        "__module__": __name__,
    }
    return type(f"{name}Preview", (serializers.Serializer,), members)


@cache
def _unmade(serializer: type[serializers.Serializer]) -> type[serializers.Serializer]:
    """The serializer class of a row that is not there yet: without its id. Always the same one, as the document asks."""
    if not issubclass(serializer, serializers.ModelSerializer) or "id" not in serializer.Meta.fields:
        return serializer

    def get_fields(self: serializers.Serializer) -> dict[str, serializers.Field]:
        return {name: field for name, field in serializer.get_fields(self).items() if name != "id"}

    def to_representation(self: serializers.Serializer, instance: Any) -> Any:
        return {name: value for name, value in serializer.to_representation(self, instance).items() if name != "id"}

    members = {
        "get_fields": get_fields,
        "to_representation": to_representation,
        "__doc__": "As it would be made: without an id, which it does not have yet.",
        "__module__": __name__,
    }
    return type(f"{serializer.__name__.removesuffix('Serializer')}ToCreate", (serializer,), members)


@extend_schema_field({"type": "object", "additionalProperties": False})
class EmptyRequest(serializers.Serializer):
    """A request without input of its own."""
