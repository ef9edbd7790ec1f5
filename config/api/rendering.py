"""Renders the answers of operations with the serializers that they declare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from config.api.serializers import shared_serializer

if TYPE_CHECKING:
    from config.api.operation import Call, Preview, Reply


def serialize_reply(call: Call, reply: Reply) -> Any:
    """Render a reply with the serializer that its operation declares for the reply's status."""
    return shared_serializer(call.operation.responses[reply.status]).to_representation(reply.data)


def render_preview(call: Call, preview: Preview) -> dict[str, Any]:
    """Render the answer to a dry run. Raises TypeError when the operation declares no preview."""
    if call.operation.preview is None:
        raise TypeError(f"{call.operation.name} declares no preview.")
    body = {
        "dry_run": True,
        "operation": call.operation.name,
        "request": preview.request,
        preview.kind: preview.would,
        **({"unchecked": preview.unchecked} if preview.unchecked else {}),
        **preview.extra,
    }
    return dict(shared_serializer(call.operation.preview).to_representation(body))
