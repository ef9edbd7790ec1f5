"""Bodies of answers, as their operations declare them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from config.api.serializers import shape

if TYPE_CHECKING:
    from config.api.operation import Call, Preview, Reply


def render_reply(call: Call, reply: Reply) -> Any:
    """The body of a reply, as its operation declares it for the reply's status."""
    return shape(call.operation.responses[reply.status]).to_representation(reply.data)


def render_preview(call: Call, preview: Preview) -> dict[str, Any]:
    """The body of a dry run's answer. Raises TypeError for an operation that declares none."""
    if call.operation.preview is None:
        raise TypeError(f"{call.operation.name} declares no preview.")
    told = {
        "dry_run": True,
        "operation": call.operation.name,
        "request": preview.request,
        preview.kind: preview.would,
        **({"unchecked": preview.unchecked} if preview.unchecked else {}),
        **preview.extra,
    }
    return dict(shape(call.operation.preview).to_representation(told))
