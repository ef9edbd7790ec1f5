"""The JSON Schemas (2020-12) of tool arguments, made of the serializers that validate the arguments."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from config.api import fields
from config.api.serializers import shared_serializer_instance


class IdOrObjectField(serializers.Field):
    """A field of MCP tool arguments that accepts an object or its id alone; `id_field` names the id in the object."""

    def __init__(self, child: serializers.Serializer, id_field: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.child, self.id_field = child, id_field

    def to_internal_value(self, data: Any) -> Any:
        return self.child.run_validation({self.id_field: data} if isinstance(data, str) else data)


def json_schema_of_serializer(serializer: type[serializers.Serializer]) -> dict[str, Any]:
    """Return the JSON Schema of the objects that a strict serializer accepts."""
    return _object(shared_serializer_instance(serializer))


def _object(serializer: serializers.Serializer) -> dict[str, Any]:
    required = [name for name, field in serializer.fields.items() if field.required]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: _schema(field) for name, field in serializer.fields.items()},
        "additionalProperties": False,
    }
    return {**schema, "required": required} if required else schema


def _schema(field: Any) -> dict[str, Any]:
    schema = _value(field)
    if field.allow_null:
        schema["type"] = [schema["type"], "null"]
    if field.help_text:
        schema["description"] = str(field.help_text)
    return schema


def _value(field: Any) -> dict[str, Any]:
    if isinstance(field, IdOrObjectField):
        return {"anyOf": [{"type": "string"}, _object(field.child)]}
    if isinstance(field, serializers.Serializer):
        return _object(field)
    if isinstance(field, serializers.ListField):
        return {
            "type": "array",
            "items": _schema(field.child),
            **_bounds(field, minItems="min_length", maxItems="max_length"),
        }
    if isinstance(field, serializers.DictField):
        return {"type": "object"}
    if isinstance(field, serializers.ChoiceField):
        return {"type": "string", "enum": list(field.choices)}
    if isinstance(field, fields.Boolean):
        return {"type": "boolean"}
    if isinstance(field, fields.Timestamp):
        return {"type": "string", "format": "date-time"}
    return {"type": "string"}


def _bounds(field: Any, **names: str) -> dict[str, int]:
    return {word: bound for word, name in names.items() if (bound := getattr(field, name, None)) is not None}
