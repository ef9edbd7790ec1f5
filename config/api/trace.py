"""Trace identifiers: one for each request, in the answer's header, errors, audit entries, post groups, events and logs."""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Callable
from contextvars import ContextVar
from typing import Protocol

from django.http import HttpRequest, HttpResponse

HEADER = "x-trace-id"
# W3C Trace Context: version 00, 32 hex of trace id (not all zero), 16 hex of parent (not all zero), 2 hex of flags.
_TRACEPARENT = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_current: ContextVar[str] = ContextVar("trace_id", default="")


class Actor(Protocol):
    """Who is calling, as log lines tell it; a Caller is one."""

    actor_id: str
    workspace_id: str | None

    @property
    def actor_type(self) -> str: ...


_actor: ContextVar[Actor | None] = ContextVar("actor", default=None)


def current_trace_id() -> str:
    """The trace id of the running request or job; a new one where there is none."""
    return _current.get() or start_trace()


def start_trace(trace_id: str = "") -> str:
    """Begin or continue a trace in this thread; a worker continues the trace of the request that made the row."""
    value = trace_id or secrets.token_hex(16)
    _current.set(value)
    _actor.set(None)
    return value


def note_actor(actor: Actor) -> None:
    """From here to the end of the trace, log lines tell who was calling, and the workspace once it is known."""
    _actor.set(actor)


def current_holder() -> str:
    """For whom the running request works: its workspace, else its actor; empty while the caller is not known."""
    actor = _actor.get()
    return (actor.workspace_id or actor.actor_id) if actor else ""


class TraceMiddleware:
    """Outermost: continues a valid incoming `traceparent`, and puts `x-trace-id` on every answer."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        match = _TRACEPARENT.fullmatch(request.META.get("HTTP_TRACEPARENT", ""))
        trace_id = start_trace(match.group(1) if match else "")
        response = self.get_response(request)
        response[HEADER] = trace_id
        return response


class TraceFilter(logging.Filter):
    """Gives every log record the trace id of its thread, the actor (`api_key:key_…`) and the workspace."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.trace_id = _current.get() or "-"
        if actor := _actor.get():
            record.actor, record.workspace_id = f"{actor.actor_type}:{actor.actor_id}", actor.workspace_id
        return True
