"""The OpenAPI document, out of the operations' declarations. Loaded through settings, after the apps are ready."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiSerializerExtension, OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiRequest, PolymorphicProxySerializer
from rest_framework.serializers import ModelSerializer

from config.api import fields
from config.api.operation import Operation, WriteBody
from config.api.schema_errors import codes_of, error_answers, error_examples
from config.api.schema_examples import add_examples
from config.api.scopes import AnyOf
from config.api.serializers import ErrorEnvelope
from config.api.upload_limits import FORM
from config.api.uploads import FILE_PART, JSON, UploadRules

RATE_LIMIT_HEADERS = {
    name: {"schema": {"type": "integer"}, "description": text, "required": True}
    for name, text in {
        "RateLimit-Limit": "Requests a minute.",
        "RateLimit-Remaining": "Requests left at this moment.",
        "RateLimit-Reset": "Seconds until all of them are left again.",
    }.items()
}
TRACE_HEADER = {
    "x-trace-id": {"schema": {"type": "string"}, "description": "The request's trace identifier.", "required": True}
}
REPLAY_HEADERS = {
    "Idempotency-Replayed": {
        "schema": {"type": "string", "enum": ["true"]},
        "description": "This is the first result once more; nothing was done anew.",
    },
    "Idempotency-Request-Differs": {
        "schema": {"type": "string", "enum": ["true"]},
        "description": "The request of the first result was another one.",
    },
}

# The document tells of itself as well; it is served by a plain view (config/api/views.py).
DOCUMENT_OPERATION = {
    "operationId": "openapi_get",
    "summary": "Read this contract",
    "description": "The OpenAPI 3.1 document of the whole API. It needs no bearer token.",
    "tags": ["openapi"],
    "security": [],
    "parameters": [
        {
            "name": "If-None-Match",
            "in": "header",
            "schema": {"type": "string"},
            "description": "The ETag of the document that the caller holds.",
        }
    ],
    "responses": {
        "200": {
            "description": "The document.",
            "headers": {**TRACE_HEADER, "ETag": {"schema": {"type": "string"}, "description": "Names this version."}},
            "content": {"application/json": {"schema": {"type": "object", "additionalProperties": True}}},
        },
        "304": {"description": "The caller holds this version already.", "headers": TRACE_HEADER},
        **error_answers(
            ["MALFORMED_REQUEST", "FORBIDDEN"], {"$ref": "#/components/schemas/ErrorEnvelope"}, TRACE_HEADER
        ),
    },
}


class IdentifierField(OpenApiSerializerFieldExtension):
    """Identifiers are strings of a known form."""

    target_class = "config.api.fields.Identifier"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        field: fields.Identifier = self.target
        return {"type": "string", "pattern": field.pattern}


class TextField(OpenApiSerializerFieldExtension):
    """Strings that may not be blank have at least one character."""

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


class OneOfSerializer(OpenApiSerializerExtension):
    """An answer that has one of several forms."""

    target_class = "config.api.serializers.OneOf"
    match_subclasses = True

    def map_serializer(self, auto_schema: AutoSchema, direction: Any) -> dict[str, Any]:
        return {"oneOf": [auto_schema.resolve_serializer(form, direction).ref for form in self.target.forms]}


class OperationSchema(AutoSchema):
    """Describes an operation by its declaration."""

    @property
    def declared(self) -> Operation:
        view: Any = self.view
        declared: Operation = getattr(view, view.action).operation
        return declared

    def _is_list_view(self, serializer: Any = None) -> bool:
        """Lists are pages: objects with a cursor, never bare arrays."""
        return False

    def get_operation_id(self) -> str:
        return self.declared.name.replace(".", "_")

    def get_tags(self) -> list[str]:
        return [self.declared.resource]

    def get_summary(self) -> str:
        return self.declared.summary

    def get_description(self) -> str:  # type: ignore[override]
        text = [self.declared.description] if self.declared.description else []
        scope = self.declared.scope
        if scope:
            text.append(f"Scope: {' or '.join(scope) if isinstance(scope, AnyOf) else scope}.")
        return "\n\n".join(text)

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        """`security: []` is left out by drf-spectacular, though it says something: that no token is needed."""
        operation = super().get_operation(*args, **kwargs)
        return operation and {**operation, "security": operation.get("security", [])}

    def get_auth(self) -> list[dict[str, list[str]]]:
        super().get_auth()  # puts the scheme itself into the document
        if self.declared.public:
            return []
        if self.declared.operator:
            return [{"adminToken": []}]
        scope = self.declared.scope
        if isinstance(scope, AnyOf):
            return [{"bearerAuth": [one]} for one in scope]
        return [{"bearerAuth": [scope] if scope else []}]

    def get_request_serializer(self) -> Any:
        """A POST without input of its own takes `dry_run`; DELETE says it in the query, whose body means nothing."""
        if self.declared.raw_body:
            return OpenApiTypes.OBJECT
        if self.declared.upload:
            return self._get_upload_serializers(self.declared.upload)
        previewed = self.declared.preview and self.method == "POST"
        return self.declared.body or (WriteBody if previewed else None)

    def _get_upload_serializers(self, rules: UploadRules) -> dict[str, Any]:
        """A form, or one of the shapes of JSON."""
        name = f"{rules.form.__name__.removesuffix('FormSerializer')}Json"
        json = PolymorphicProxySerializer(name, serializers=list(rules.shapes), resource_type_field_name=None)
        form = OpenApiRequest(rules.form, encoding={FILE_PART: {"contentType": ", ".join(rules.mime_types)}})
        return {FORM: form, JSON: json}

    def get_response_serializers(self) -> Any:
        return self.declared.responses

    def get_filter_backends(self) -> list[Any]:
        return []

    def get_override_parameters(self) -> list[Any]:
        declared = self.declared
        query = declared.query_serializer
        parameters: list[Any] = [query] if query().fields else []
        for name, description in declared.headers.items():
            parameters.append(
                OpenApiParameter(name, str, OpenApiParameter.HEADER, required=True, description=description)
            )
        if declared.idempotent:
            parameters.append(
                OpenApiParameter(
                    "Idempotency-Key",
                    {"type": "string", "minLength": 1, "maxLength": 255},
                    OpenApiParameter.HEADER,
                    description="The same key within 24 hours answers the first result again and does nothing anew.",
                )
            )
        return parameters

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> Any:
        """Rows are only ever answered, and whole: each field is there but those that the serializer names as optional."""
        schema = super()._map_basic_serializer(serializer, direction)
        if isinstance(serializer, ModelSerializer):
            optional = getattr(serializer, "optional_fields", ())
            schema["required"] = [name for name in schema["properties"] if name not in optional]
        return schema

    def _get_request_body(self, direction: str = "request") -> Any:
        body = super()._get_request_body(direction)
        if not body or self.declared.raw_body:
            return body
        if self.declared.upload:
            return {**body, "required": True}
        if not any(field.required for field in self.get_request_serializer()().fields.values()):
            body["required"] = False
        return body

    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        """Private in drf-spectacular (pinned below 0.31): the declared answers, the preview, and the errors."""
        declared = self.declared
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        if declared.preview:
            preview = self.resolve_serializer(declared.preview, "response").ref
            self._add_preview(bodies, declared, preview)
        if declared.replay_status and str(declared.replay_status) not in bodies:
            bodies[str(declared.replay_status)] = bodies[str(min(declared.responses))]
        for media_type in declared.media_types:
            bodies[str(min(declared.responses))]["content"][media_type] = {"schema": {"type": "string"}}
        headers = {
            **TRACE_HEADER,
            **({} if declared.public else RATE_LIMIT_HEADERS),
            **(REPLAY_HEADERS if declared.idempotent else {}),
        }
        for body in bodies.values():
            body["headers"] = headers
        envelope = self.resolve_serializer(ErrorEnvelope, "response").ref
        codes = codes_of(declared, self.method, self.path)
        return {**bodies, **error_answers(codes, envelope, TRACE_HEADER)}

    def _add_preview(self, bodies: dict[str, Any], declared: Operation, preview: dict[str, Any]) -> None:
        status = str(declared.preview_status)
        if declared.replay_status == declared.preview_status:
            first = bodies[str(min(declared.responses))]["content"]["application/json"]["schema"]
            bodies.setdefault(status, self._json(first, ""))
        if status in bodies:
            content = bodies[status]["content"]["application/json"]
            content["schema"] = {"oneOf": [content["schema"], preview]}
        else:
            bodies[status] = self._json(preview, "What the call would do; nothing was changed.")

    @staticmethod
    def _json(schema: dict[str, Any], description: str) -> dict[str, Any]:
        return {"content": {"application/json": {"schema": schema}}, "description": description}


def finish_document(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """A postprocessing hook: objects take no fields that are not declared, and the document names its own address."""
    for component in result["components"]["schemas"].values():
        if component.get("type") == "object" and "additionalProperties" not in component:
            component["additionalProperties"] = False
    add_examples(result)
    paths = {**result["paths"], "/openapi.json": {"get": DOCUMENT_OPERATION}}
    result["components"]["examples"] = error_examples(paths)
    # The generator's order of methods differs from process to process; all shall serve the same bytes and ETag.
    result["paths"] = {path: dict(sorted(methods.items())) for path, methods in paths.items()}
    return result
