"""Generates the OpenAPI schema of the API from the declarations of operations (DRF's DEFAULT_SCHEMA_CLASS)."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiSerializerExtension, OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiRequest, PolymorphicProxySerializer
from rest_framework.serializers import ModelSerializer

from config.api import fields
from config.api.dry_run import PLAN_HASH_HEADER
from config.api.operation import Operation, WriteBody
from config.api.schema_errors import error_codes_of, error_examples, error_response_schemas
from config.api.schema_examples import add_examples
from config.api.scopes import AlternativeScopes
from config.api.serializers import ErrorBodySerializer
from config.api.uploads import FILE_PART, JSON_CONTENT_TYPE, MULTIPART_CONTENT_TYPE, UploadRules

RATE_LIMIT_HEADER_SCHEMAS = {
    name: {"schema": {"type": "integer"}, "description": text, "required": True}
    for name, text in {
        "RateLimit-Limit": "Requests a minute.",
        "RateLimit-Remaining": "Requests left now.",
        "RateLimit-Reset": "Seconds until the full limit is available again.",
    }.items()
}
TRACE_HEADER_SCHEMA = {
    "x-trace-id": {"schema": {"type": "string"}, "description": "The request's trace identifier.", "required": True}
}
REPLAY_HEADER_SCHEMAS = {
    "Idempotency-Replayed": {
        "schema": {"type": "string", "enum": ["true"]},
        "description": "This is the stored answer of the first request; nothing was done again.",
    },
    "Idempotency-Request-Differs": {
        "schema": {"type": "string", "enum": ["true"]},
        "description": "The first request with this key had different input.",
    },
}

# The document describes its own address too; a plain Django view serves it (config/api/openapi_document.py).
DOCUMENT_OPERATION = {
    "operationId": "openapi_get",
    "summary": "Read the OpenAPI document",
    "description": "The OpenAPI 3.1 document of the whole API. It needs no bearer token.",
    "tags": ["openapi"],
    "security": [],
    "parameters": [
        {
            "name": "If-None-Match",
            "in": "header",
            "schema": {"type": "string"},
            "description": "The ETag of the caller's copy of the document.",
        }
    ],
    "responses": {
        "200": {
            "description": "The document.",
            "headers": {
                **TRACE_HEADER_SCHEMA,
                "ETag": {"schema": {"type": "string"}, "description": "Identifies this version."},
            },
            "content": {"application/json": {"schema": {"type": "object", "additionalProperties": True}}},
        },
        "304": {"description": "The caller's copy is current.", "headers": TRACE_HEADER_SCHEMA},
        **error_response_schemas(
            ["MALFORMED_REQUEST", "FORBIDDEN"], {"$ref": "#/components/schemas/ErrorEnvelope"}, TRACE_HEADER_SCHEMA
        ),
    },
}


class IdentifierFieldSchema(OpenApiSerializerFieldExtension):
    """Describes Identifier fields in the OpenAPI schema as strings with a pattern."""

    target_class = "config.api.fields.Identifier"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        field: fields.Identifier = self.target
        return {"type": "string", "pattern": field.pattern}


class TextFieldSchema(OpenApiSerializerFieldExtension):
    """Describes Text fields in the OpenAPI schema, with minLength 1 unless the text may be empty."""

    target_class = "config.api.fields.Text"
    match_subclasses = True
    priority = -1

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        field: fields.Text = self.target
        schema: dict[str, Any] = {"type": "string"}
        if not field.allow_blank:
            schema["minLength"] = field.min_length or 1
        if field.max_length:
            schema["maxLength"] = field.max_length
        return schema


class OneOfSerializerSchema(OpenApiSerializerExtension):
    """Describes a OneOf serializer in the OpenAPI schema as `oneOf` with the schemas of its alternatives."""

    target_class = "config.api.serializers.OneOf"
    match_subclasses = True

    def map_serializer(self, auto_schema: AutoSchema, direction: Any) -> dict[str, Any]:
        return {"oneOf": [auto_schema.resolve_serializer(each, direction).ref for each in self.target.alternatives]}


class OperationSchema(AutoSchema):
    """Describes an API operation in the OpenAPI schema, from the arguments of its @operation decorator."""

    @property
    def declared_operation(self) -> Operation:
        view: Any = self.view
        declared: Operation = getattr(view, view.action).operation
        return declared

    def _is_list_view(self, serializer: Any = None) -> bool:
        """Return False, so that OpenAPI shows no response as an array; a list is an object that holds one page of rows."""
        return False

    def get_operation_id(self) -> str:
        return self.declared_operation.name.replace(".", "_")

    def get_tags(self) -> list[str]:
        return [self.declared_operation.resource_name]

    def get_summary(self) -> str:
        return self.declared_operation.summary

    def get_description(self) -> str:  # type: ignore[override]
        text = [self.declared_operation.description] if self.declared_operation.description else []
        scope = self.declared_operation.access.scope
        if scope:
            text.append(f"Scope: {' or '.join(scope) if isinstance(scope, AlternativeScopes) else scope}.")
        return "\n\n".join(text)

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        """Return an operation's OpenAPI schema, with `security: []` if the operation is public and needs no token."""
        operation = super().get_operation(*args, **kwargs)
        return operation and {**operation, "security": operation.get("security", [])}

    def get_auth(self) -> list[dict[str, list[str]]]:
        super().get_auth()  # registers the security scheme in the document
        if self.declared_operation.access.public:
            return []
        if self.declared_operation.access.operator:
            return [{"adminToken": []}]
        scope = self.declared_operation.access.scope
        if isinstance(scope, AlternativeScopes):
            return [{"bearerAuth": [one]} for one in scope]
        return [{"bearerAuth": [scope] if scope else []}]

    def get_request_serializer(self) -> Any:
        """Describe an operation's request body in the OpenAPI schema: return its serializer, or None if it takes no body.

        A POST that supports dry runs and declares no body has one for `dry_run`. An upload has one serializer for each
        content type.
        """
        if self.declared_operation.body.raw:
            return OpenApiTypes.OBJECT
        if self.declared_operation.body.upload:
            return self._get_upload_serializers(self.declared_operation.body.upload)
        previewed = self.declared_operation.preview and self.method == "POST"
        return self.declared_operation.body.serializer or (WriteBody if previewed else None)

    def _get_upload_serializers(self, rules: UploadRules) -> dict[str, Any]:
        """Describe an upload's request body in the OpenAPI schema: by one serializer for multipart and one for JSON."""
        name = f"{rules.form_serializer.__name__.removesuffix('FormSerializer')}Json"
        json = PolymorphicProxySerializer(name, serializers=list(rules.json_serializers), resource_type_field_name=None)
        form = OpenApiRequest(rules.form_serializer, encoding={FILE_PART: {"contentType": ", ".join(rules.mime_types)}})
        return {MULTIPART_CONTENT_TYPE: form, JSON_CONTENT_TYPE: json}

    def get_response_serializers(self) -> Any:
        return self.declared_operation.responses

    def get_filter_backends(self) -> list[Any]:
        return []

    def get_override_parameters(self) -> list[Any]:
        declared = self.declared_operation
        query = declared.query_serializer_class
        parameters: list[Any] = [*([query] if query().fields else []), *declared.headers]
        if declared.preview:
            parameters.append(PLAN_HASH_HEADER)
        if declared.idempotency.mode:
            parameters.append(
                OpenApiParameter(
                    "Idempotency-Key",
                    {"type": "string", "minLength": 1, "maxLength": 255},
                    OpenApiParameter.HEADER,
                    description="A repeated request with this key within 24 hours returns the first answer and does nothing.",
                )
            )
        return parameters

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> Any:
        """Mark all fields of a model serializer as required in the OpenAPI schema, except those in its `optional_fields`."""
        schema = super()._map_basic_serializer(serializer, direction)
        if isinstance(serializer, ModelSerializer):
            optional = getattr(serializer, "optional_fields", ())
            schema["required"] = [name for name in schema["properties"] if name not in optional]
        return schema

    def _get_request_body(self, direction: str = "request") -> Any:
        body = super()._get_request_body(direction)
        if not body or self.declared_operation.body.raw:
            return body
        if self.declared_operation.body.upload:
            return {**body, "required": True}
        if not any(field.required for field in self.get_request_serializer()().fields.values()):
            body["required"] = False
        return body

    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        """Return the OpenAPI schemas of all responses of an operation: successes, dry runs and errors."""
        declared = self.declared_operation
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        if declared.preview:
            preview = self.resolve_serializer(declared.preview, "response").ref
            self._add_preview(bodies, declared, preview)
        if declared.idempotency.replay_status and str(declared.idempotency.replay_status) not in bodies:
            bodies[str(declared.idempotency.replay_status)] = bodies[str(min(declared.responses))]
        for media_type in declared.media_types:
            bodies[str(min(declared.responses))]["content"][media_type] = {"schema": {"type": "string"}}
        headers = {
            **TRACE_HEADER_SCHEMA,
            **({} if declared.access.public else RATE_LIMIT_HEADER_SCHEMAS),
            **(REPLAY_HEADER_SCHEMAS if declared.idempotency.mode else {}),
        }
        for body in bodies.values():
            body["headers"] = headers
        error_body = self.resolve_serializer(ErrorBodySerializer, "response").ref
        codes = error_codes_of(declared, self.method, self.path)
        return {**bodies, **error_response_schemas(codes, error_body, TRACE_HEADER_SCHEMA)}

    def _add_preview(self, bodies: dict[str, Any], declared: Operation, preview: dict[str, Any]) -> None:
        status = str(declared.preview_status)
        if declared.idempotency.replay_status == declared.preview_status:
            first = bodies[str(min(declared.responses))]["content"]["application/json"]["schema"]
            bodies.setdefault(status, self._json(first, ""))
        if status in bodies:
            content = bodies[status]["content"]["application/json"]
            content["schema"] = {"oneOf": [content["schema"], preview]}
        else:
            bodies[status] = self._json(preview, "What the call would do. Nothing was changed.")

    @staticmethod
    def _json(schema: dict[str, Any], description: str) -> dict[str, Any]:
        return {"content": {"application/json": {"schema": schema}}, "description": description}


def finish_openapi_document(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Complete the OpenAPI schema: forbid undeclared fields, add examples, and add the route /openapi.json itself."""
    for component in result["components"]["schemas"].values():
        if component.get("type") == "object" and "additionalProperties" not in component:
            component["additionalProperties"] = False
    add_examples(result)
    paths = {**result["paths"], "/openapi.json": {"get": DOCUMENT_OPERATION}}
    result["components"]["examples"] = error_examples(paths)
    # The generator's order of methods varies between processes. Sorting gives all of them the same bytes and ETag.
    result["paths"] = {path: dict(sorted(methods.items())) for path, methods in paths.items()}
    return result
