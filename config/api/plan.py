"""Plans of API operations: what a request would change, with a hash that dry runs show and real calls check.

A service makes its plan, calls `accept_plan`, and then writes what the plan says, or nothing in a dry run. Both ways run the
same code up to the write.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import rfc8785
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model

from config.api.errors import PlanChanged


@dataclass(frozen=True)
class ResourcePlan:
    """What an operation would do to one resource: the content that the resource has now, and the content to come.

    `resource_id` is the resource that changes; of a new resource, the one that it would belong to, and `before` is None.
    The same request in the same circumstances has the same plan, so it contains no ids of new rows, no current time, no
    trace ids and not the caller. It contains no credentials either: a hash of a weak secret could be guessed.
    """

    operation: str
    resource_id: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any]

    @cached_property
    def hash(self) -> str:
        return hash_of_content(json.loads(json.dumps(asdict(self), cls=DjangoJSONEncoder)))


@dataclass
class PlanOfRequest:
    """The plan of the current request, once its service has made one, and the plan hash that the caller expects, if any."""

    expected_hash: str | None = None
    plan: ResourcePlan | None = None


_plan_of_request: ContextVar[PlanOfRequest | None] = ContextVar("plan_of_request", default=None)


@contextlib.contextmanager
def accept_only_plan_with_hash(plan_hash: str | None) -> Iterator[PlanOfRequest]:
    """Return a context manager in whose block `accept_plan` accepts only the plan with this hash; None accepts any plan."""
    token = _plan_of_request.set(requested := PlanOfRequest(plan_hash))
    try:
        yield requested
    finally:
        _plan_of_request.reset(token)


def accept_plan(plan: ResourcePlan) -> None:
    """Accept a ResourcePlan before anything is written, and keep it for the answer to a dry run, which shows its hash.

    Outside of API requests, every plan is accepted. Raises PlanChanged if it is not the plan that the caller expects.
    """
    requested = _plan_of_request.get()
    if requested is not None:
        requested.plan = plan
        if requested.expected_hash is not None and requested.expected_hash != plan.hash:
            raise PlanChanged()


def row_fields(row: Model, *names: str) -> dict[str, Any]:
    """Return the named fields and properties of a database row, as the content of a ResourcePlan."""
    return {name: getattr(row, name) for name in names}


def hash_of_content(content: Any) -> str:
    """Return the hash of a plan's content: `sha256:` and 64 hex digits over its canonical JSON (RFC 8785)."""
    return f"sha256:{hashlib.sha256(rfc8785.dumps(_hashable(content))).hexdigest()}"


def _hashable(value: Any) -> Any:
    """For a plan's hash: return JSON data with integers beyond 2**53 as text, because RFC 8785 has no such numbers."""
    if isinstance(value, dict):
        return {name: _hashable(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_hashable(each) for each in value]
    return str(value) if type(value) is int and abs(value) >= 2**53 else value
