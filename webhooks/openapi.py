"""The events in the OpenAPI document: its `webhooks`, one for each kind (settings name EVENTS)."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiWebhook

from webhooks.event_kinds import DELIVERED, EventKind
from webhooks.signing import DELIVERY_HEADER, EVENT_HEADER, SIGNATURE_HEADER

_STRING = {"type": "string"}
_MEMBERS: dict[str, Any] = {
    "id": {**_STRING, "description": "The event's id, `evt_…`; the same at each attempt and in each replay."},
    "created_at": {**_STRING, "format": "date-time"},
    "workspace_id": _STRING,
    "trace_id": {**_STRING, "description": "Of the request that the post came from."},
    "sandbox": {"type": "boolean"},
    "sequence": {
        "type": "integer",
        "minimum": 1,
        "description": "Counts up within a post group; the order of arrival is not promised.",
    },
}


def _payload(kind: EventKind) -> dict[str, Any]:
    data: dict[str, Any] = {
        "post_group": {"type": "object", "description": "The post group, as GET /posts/{post_group_id} answers it."}
    }
    if kind.value.startswith("post.target."):
        data["target_id"] = {**_STRING, "description": "The target that the event is about."}
    members = {"type": {"type": "string", "const": kind.value}, **_MEMBERS, "data": _object(data)}
    return _object(members)


def _object(members: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": members, "required": list(members)}


def _header(name: str, description: str) -> dict[str, Any]:
    return {"name": name, "in": "header", "required": True, "description": description, "schema": _STRING}


def _webhook(kind: EventKind) -> OpenApiWebhook:
    """The document's own words, since this request is not one of our views'."""
    operation = {
        "operationId": kind.value.replace(".", "_"),
        "tags": ["webhooks"],
        "summary": kind.label,
        "description": "Sent to the `webhook_url` of the post or of its agent, again until it is answered with 2xx.",
        "security": [],
        "parameters": [
            _header(EVENT_HEADER, "The event's kind."),
            _header(DELIVERY_HEADER, "The delivery's id; the same at each attempt and in each replay."),
            _header(
                SIGNATURE_HEADER,
                "`t=<unix seconds>,v1=<hex>`: HMAC-SHA256 of t, a dot and the raw body, keyed with the workspace's "
                "signing secret. For 24 hours after a rotation there are two v1, the new secret's first.",
            ),
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": _payload(kind)}}},
        "responses": {
            "2XX": {"description": "Delivered, when the answer is whole within 10 seconds."},
            "410": {"description": "Not to be tried again."},
            "default": {"description": "To be tried again; redirects are not followed."},
        },
    }
    return OpenApiWebhook(name=kind.value, decorator={"post": operation})


EVENTS = [_webhook(kind) for kind in DELIVERED]
