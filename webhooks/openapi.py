"""The `webhooks` section of the OpenAPI document, with one entry for each kind of webhook event."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiWebhook

from webhooks.event_kinds import DELIVERED_KINDS, EventKind
from webhooks.signing import DELIVERY_HEADER, EVENT_HEADER, SIGNATURE_HEADER

_STRING = {"type": "string"}
_MEMBERS: dict[str, Any] = {
    "id": {**_STRING, "description": "The event's id, `evt_…`; the same in every attempt and replay."},
    "created_at": {**_STRING, "format": "date-time"},
    "workspace_id": _STRING,
    "trace_id": {**_STRING, "description": "Trace id of the request that created the post."},
    "sandbox": {"type": "boolean"},
    "sequence": {
        "type": "integer",
        "minimum": 1,
        "description": "Counts up within a post group. Events may arrive out of order.",
    },
}


def _payload(kind: EventKind) -> dict[str, Any]:
    data: dict[str, Any] = {
        "post_group": {"type": "object", "description": "The post group, as GET /posts/{post_group_id} returns it."}
    }
    if kind.value.startswith("post.target."):
        data["target_id"] = {**_STRING, "description": "The target of the event."}
    members = {"type": {"type": "string", "const": kind.value}, **_MEMBERS, "data": _object(data)}
    return _object(members)


def _object(members: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": members, "required": list(members)}


def _header(name: str, description: str) -> dict[str, Any]:
    return {"name": name, "in": "header", "required": True, "description": description, "schema": _STRING}


def _webhook(kind: EventKind) -> OpenApiWebhook:
    """Return a webhook event kind's OpenAPI entry, built by hand because no view of this service receives webhooks."""
    operation = {
        "operationId": kind.value.replace(".", "_"),
        "tags": ["webhooks"],
        "summary": kind.label,
        "description": "Sent to the `webhook_url` of the post or its agent, and retried until it is accepted with 2xx.",
        "security": [],
        "parameters": [
            _header(EVENT_HEADER, "The event's kind."),
            _header(DELIVERY_HEADER, "The delivery's id; the same in every attempt and replay."),
            _header(
                SIGNATURE_HEADER,
                "`t=<unix seconds>,v1=<hex>`: HMAC-SHA256 of t, a dot and the raw body, keyed with the workspace's "
                "signing secret. For 24 hours after a rotation there are two v1, the new secret's first.",
            ),
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": _payload(kind)}}},
        "responses": {
            "2XX": {"description": "Delivered, if the response is complete within 10 seconds."},
            "410": {"description": "Not retried."},
            "default": {"description": "Retried; redirects are not followed."},
        },
    }
    return OpenApiWebhook(name=kind.value, decorator={"post": operation})


OPENAPI_WEBHOOKS = [_webhook(kind) for kind in DELIVERED_KINDS]
