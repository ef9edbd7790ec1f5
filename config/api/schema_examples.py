"""Adds example requests and answers to the OpenAPI document; they are generated from its schemas.

A field's value comes from SAMPLE_VALUES by its name (the first match of a tuple), otherwise from its schema. Optional
fields are omitted except those in OPTIONAL_FIELDS_IN_EXAMPLES. A test validates every example against its schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_ID = "01k3qv5yf8e2mb7w9x4t6zc0hd"
_TIME = "2027-01-31T09:00:00Z"
ID_PREFIX_BY_FIELD = {
    "account_id": "acc",
    "agent_id": "agt",
    "connected_account_id": "acc",
    "media_id": "med",
    "owner_user_id": "usr",
    "post_group_id": "pgr",
    "target_id": "tgt",
    "workspace_id": "wrk",
}
ID_PREFIX_BY_SCHEMA = {  # prefix of the `id` of an object, by the start of its schema's name
    "Account": "acc",
    "Agent": "agt",
    "ApiKey": "key",
    "CalendarFeed": "cal",
    "NewCalendarFeed": "cal",
    "Delivery": "dlv",
    "Log": "log",
    "Media": "med",
    "Post": "pgr",
    "StoredPlan": "pln",
    "RetiringKey": "key",
    "Target": "tgt",
    "Workspace": "wrk",
}
SAMPLE_VALUES: dict[str, Any] = {
    "account_allowlist": [f"acc_{_ID}"],
    "actor_id": f"key_{_ID}",
    "actor_type": "api_key",
    "algorithm": "HMAC-SHA256",
    "alt_text": "A paper boat on a lake at sunrise",
    "amount_due_cents": 0,
    "attempts": 0,
    "avatar_url": "",
    "cap_cents": 2500,
    "claim_token": "sps_clm_…",
    "code": None,
    "content_base64": "iVBORw0KGgo=",
    "content_version": 1,
    "cost_cents": 1,
    "counted_as": "graphemes",
    "credentials": {"identifier": "alice.example", "app_password": "xxxx-xxxx-xxxx-xxxx"},
    "currency": "usd",
    "default_timezone": "Europe/Berlin",
    "description": "Posts what is new in each release.",
    "display_name": "Alice",
    "documents": None,
    "dry_run": True,
    "email": "alice@example.com",
    "engine": "ClamAV 1.4.3",
    "error": None,
    "estimated_cost_cents": 1,
    "external_id": (None, "did:plc:example"),
    "filename": "boat.jpg",
    "finished_at": None,
    "free_credit_cents": 100,
    "free_monthly_credit_cents": 100,
    "handle": "alice.example",
    "ip": "203.0.113.7",
    "issues": [],
    "last_error": None,
    "last_status_code": 200,
    "local": "2027-03-11T09:30",
    "local_time": "10:00",
    "metadata": {"campaign": "spring"},
    "mime_type": "image/jpeg",
    "mime_types": ["image/jpeg", "image/png"],
    "monthly_social_url_post_cap": 20,
    "monthly_spend_cap_cents": 2500,
    "name": "Release notes",
    "next_cursor": None,
    "options": {"langs": ["en"]},
    "permalink": (None, "https://bsky.app/profile/did:plc:example/post/3l25zusnsfck2"),
    "posts_per_day_cap": 50,
    "prefix": "sps_key_4xQm",
    "processor_customer_id": "",
    "profile_url": "https://bsky.app/profile/did:plc:example",
    "rate_limit_per_minute": 60,
    "published_at": None,
    "reason": "Not before the launch.",
    "rejection_reason": None,
    "remaining_cents": 2599,
    "reserved_cents": 1,
    "resource_id": f"pgr_{_ID}",
    "resource_type": "post_group",
    "scopes": ["posts.read", "posts.schedule", "posts.publish"],
    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "signature_header": "x-service-signature",
    "signed_payload_format": "<t>.<raw body>",
    "signing_secret": "whsec_…",
    "slug": "example-studio",
    "spent_cents": 0,
    "source_url": "https://example.com/boat.jpg",
    "status": ("scheduled", "active", "pending", "ready"),
    "text": "We are live.",
    "text_length": 12,
    "text_limit": 300,
    "time": "09:30",
    "timezone": "Europe/Berlin",
    "token": "sps_key_…",
    "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
    "url": "https://example.com/boat.jpg",
    "version": "1.4.0",
    "via": "cli",
    "webhook_url": "https://example.com/hooks/social",
}
# Optional fields to include in the example of each request; all others are omitted.
OPTIONAL_FIELDS_IN_EXAMPLES = {
    "posts_create": {"scheduled_at", "webhook_url", "media"},
    "posts_update": {"text", "scheduled_at"},
    "posts_retry": {"include_unconfirmed"},
    "posts_reject": {"reason"},
    "posts_resolve": {"permalink"},
    "agents_create": {"monthly_spend_cap_cents", "description"},
    "agents_update": {"scopes", "monthly_spend_cap_cents"},
    "workspaces_create": {"default_timezone", "monthly_spend_cap_cents"},
    "workspaces_update_caps": {"monthly_spend_cap_cents"},
    "accounts_connect": {"method", "credentials"},
    "media_upload": {"source_url", "alt_text"},
    "billing_create_checkout_session": {"plan"},
}


def add_examples(document: dict[str, Any]) -> None:
    """Add an example to every JSON request body and every successful answer in the OpenAPI document."""
    schemas = document["components"]["schemas"]
    for operation in (one for methods in document["paths"].values() for one in methods.values()):
        for body in _json(operation.get("requestBody", {})):
            body["example"] = _ExampleBuilder(schemas, operation["operationId"]).example_for(body["schema"])
        for status, answer in operation["responses"].items():
            for body in _json(answer) if status < "300" else ():
                choices = body["schema"].get("oneOf", [body["schema"]])
                names = ("result", "dry_run") if len(choices) > 1 else ("result",)
                made = zip(names, choices, strict=False)
                builder = _ExampleBuilder(schemas, operation["operationId"])
                body["examples"] = {name: {"value": builder.example_for(choice)} for name, choice in made}


def _json(described: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    content = described.get("content", {})
    if "application/json" in content:
        yield content["application/json"]


class _ExampleBuilder:
    """Builds example values for the OpenAPI schemas of one operation."""

    def __init__(self, schemas: Mapping[str, Any], operation_id: str) -> None:
        self._schemas = schemas
        self._operation = operation_id.replace("_", ".", 1)
        self._shown = OPTIONAL_FIELDS_IN_EXAMPLES.get(operation_id, set())

    def example_for(self, schema: Mapping[str, Any], name: str = "", owner: str = "") -> Any:
        if "$ref" in schema:
            owner = schema["$ref"].rpartition("/")[2]
            return self.example_for(self._schemas[owner], name, owner)
        if "allOf" in schema:
            return self.example_for(schema["allOf"][0], name, owner)
        if "properties" in schema or schema.get("type") == "object":
            return self._object(schema, name, owner)
        for sample in self._by_name(name, owner):
            if _matches(sample, schema):
                return sample
        choices = schema.get("oneOf") or schema.get("anyOf")
        return self.example_for(choices[0], name, owner) if choices else self._plain(schema, name, owner)

    def _by_name(self, name: str, owner: str) -> tuple[Any, ...]:
        if name == "id":
            prefix = next((prefix for start, prefix in ID_PREFIX_BY_SCHEMA.items() if owner.startswith(start)), "evt")
            return (f"{prefix}_{_ID}",)
        if name == "operation":
            return (self._operation,)
        return (f"{ID_PREFIX_BY_FIELD[name]}_{_ID}",) if name in ID_PREFIX_BY_FIELD else _samples(name)

    def _plain(self, schema: Mapping[str, Any], name: str, owner: str) -> Any:
        if "enum" in schema or "const" in schema:
            return schema.get("const", schema.get("enum", [None])[0])
        kinds = schema.get("type")
        kind = kinds[0] if isinstance(kinds, list) else kinds
        if kind == "array":
            return [self.example_for(schema["items"], name.removesuffix("s"), owner)]
        if kind == "boolean":
            return name in ("valid", "ok", "available", "deleted", "received", "include_unconfirmed")
        if kind in ("integer", "number"):
            return schema.get("minimum", 0) or 1
        formats = {"date-time": _TIME, "date": _TIME[:10], "uri": "https://example.com/boat.jpg"}
        return formats.get(schema.get("format", ""), name or "…")

    def _object(self, schema: Mapping[str, Any], name: str, owner: str) -> Any:
        properties = schema.get("properties")
        if not properties:
            return next((sample for sample in _samples(name) if _matches(sample, schema)), {})
        shown = {*schema.get("required", []), *self._shown}
        return {each: self.example_for(of_it, each, owner) for each, of_it in properties.items() if each in shown}


def _samples(name: str) -> tuple[Any, ...]:
    sample = SAMPLE_VALUES.get(name, ())
    return sample if isinstance(sample, tuple) else (sample,)


def _matches(sample: Any, schema: Mapping[str, Any]) -> bool:
    """Return whether a sample value for an OpenAPI example fits the type in the field's schema."""
    if "enum" in schema:
        return sample in schema["enum"]
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if any(part in schema for part in ("oneOf", "anyOf")):
        return sample is None
    names = {str: "string", bool: "boolean", int: "integer", list: "array", dict: "object", type(None): "null"}
    return names[type(sample)] in kinds
