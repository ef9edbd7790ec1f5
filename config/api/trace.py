"""Trace ids, which identify a request in its headers, errors, log lines, audit entries and events."""

from __future__ import annotations

import logging
import secrets
from contextvars import ContextVar
from typing import Protocol

TRACE_HEADER = "x-trace-id"
_current: ContextVar[str] = ContextVar("trace_id", default="")


class TraceActor(Protocol):
    """The protocol by which log lines name the caller of a traced request; the class Caller implements it."""

    actor_id: str
    workspace_id: str | None

    @property
    def actor_type(self) -> str: ...


_actor: ContextVar[TraceActor | None] = ContextVar("actor", default=None)


def current_trace_id() -> str:
    """Return the trace id of the current request or job; start a new trace if there is none."""
    return _current.get() or start_or_continue_trace()


def start_or_continue_trace(trace_id: str = "") -> str:
    """Start a trace in this thread, or continue one: a worker continues the trace of the request that created its job."""
    value = trace_id or secrets.token_hex(16)
    _current.set(value)
    _actor.set(None)
    return value


def set_trace_actor(actor: TraceActor) -> None:
    """Set the caller of the current trace, whom log lines name until the trace ends."""
    _actor.set(actor)


def current_workspace_or_actor_id() -> str:
    """Return the workspace id of the current trace, or else the id of its caller; "" before authentication."""
    actor = _actor.get()
    return (actor.workspace_id or actor.actor_id) if actor else ""


class TraceFilter(logging.Filter):
    """The log filter that adds to each record its trace id, caller (`api_key:key_…`) and workspace."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.trace_id = _current.get() or "-"
        if actor := _actor.get():
            record.actor, record.workspace_id = f"{actor.actor_type}:{actor.actor_id}", actor.workspace_id
        return True
