"""Dry runs of API operations: the header Plan-Hash, and the answer, which shows what the call would do."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from config.api.errors import ValidationFailed
from config.api.serializers import shared_serializer_instance

if TYPE_CHECKING:
    from config.api.operation import Operation

_HASH = re.compile(r"sha256:[0-9a-f]{64}")
PLAN_HASH_HEADER = OpenApiParameter(
    "Plan-Hash",
    {"type": "string", "pattern": f"^{_HASH.pattern}$"},
    OpenApiParameter.HEADER,
    description="The `plan_hash` of a dry run. If the operation would now do anything else, nothing is changed "
    "and the answer is 409 PLAN_CHANGED.",
)


@dataclass
class DryRunReply:
    """What an operation's view method returns for a dry run: the input, and what it would create, update or delete.

    `plan_hash` is filled in from the plan that the service has checked (`accept_plan`), unless the view gives it.
    """

    request: Any
    would: Any
    kind: Literal["would_create", "would_update", "would_delete"]
    unchecked: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
    plan_hash: str | None = None


def read_plan_hash_header(declared: Operation, request: Request) -> str | None:
    """Return the Plan-Hash header of a request to an operation that has a dry run. Raises ValidationFailed."""
    value: str | None = request.headers.get("Plan-Hash") if declared.preview else None
    if value is not None and not _HASH.fullmatch(value):
        raise ValidationFailed.for_field("Plan-Hash", "Must be `sha256:` and 64 hexadecimal digits.")
    return value


def dry_run_response_body(declared: Operation, preview: DryRunReply) -> dict[str, Any]:
    """Return the JSON body of the response to a dry run: the request, the plan hash, and what the operation would do."""
    if declared.preview is None or preview.plan_hash is None:
        raise TypeError(f"{declared.name} declares no preview, or its service has checked no plan.")
    body = {
        "dry_run": True,
        "operation": declared.name,
        "request": preview.request,
        "plan_hash": preview.plan_hash,
        preview.kind: preview.would,
        **({"unchecked": preview.unchecked} if preview.unchecked else {}),
        **preview.extra,
    }
    return dict(shared_serializer_instance(declared.preview).to_representation(body))
