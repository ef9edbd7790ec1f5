"""The one declaration of an operation, and how a request runs through it.

`@operation("agents.create", …)` on a view method says who may call it, what goes in and out, whether it replays and
whether it can be previewed. The request's path follows from it, and the OpenAPI document says the same (schema.py).
The order of checks: authentication, rate limit, form of the request, scope; then the service's own. A request whose
Idempotency-Key has an answer gets that answer whatever its form is, once its JSON can be read.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal, TypeVar, cast

from django.conf import settings
from django.http.response import HttpResponseBase
from django.utils.module_loading import import_string
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer, Serializer

from config.api import errors, fields, idempotency
from config.api.caller import Caller, Mode, nobody, require, require_scope
from config.api.models import IdempotencyRecord
from config.api.operation_input import (
    SAFE_METHODS,
    asked_for_preview,
    check_body,
    check_query,
    read_body,
    take_dry_run,
)
from config.api.rendering import render_preview, render_reply
from config.api.scopes import AnyOf
from config.api.serializers import QuerySerializer, StrictSerializer, shape
from config.api.uploads import Spool, UploadRules
from config.api.webhook_url import check_webhook_hosts, collected_webhook_urls

Method = TypeVar("Method", bound=Callable[..., Any])
INPUT_REFUSALS = (ValidationError, errors.ValidationFailed, errors.WebhookUrlNotAllowed)


class WriteBody(StrictSerializer):
    """The body of a write; every write can be previewed."""

    dry_run = fields.Boolean(required=False, help_text="Answer what would happen, and change nothing.")


class WriteQuery(QuerySerializer):
    """The query of a write."""

    dry_run = fields.QueryBoolean(required=False, help_text="The same as `dry_run` in the body.")


@dataclass(frozen=True)
class Operation:
    """What the decorator was given.

    `public`: no bearer token is asked for, and the service is called as nobody. `operator`: the operator's token alone opens
    it. `raw_body`: any JSON object, which the service reads itself out of the request's bytes. `headers`: those that it
    reads, told in the document. `media_types`: what it answers besides JSON, by a `response` of its own. `upload`: it takes
    a file, in a form or in JSON (`body`). `lease`: how long work under a lease may take before a repeat of the call takes
    it for dead. `audited_read`: a read whose answer is sensitive, so each one leaves an audit entry as writes do: its service
    records those that succeed, the request's path those that are refused.
    """

    name: str
    summary: str
    responses: dict[int, type[BaseSerializer]]
    scope: str | AnyOf | None = None
    body: type[StrictSerializer] | None = None
    query: type[QuerySerializer] = QuerySerializer
    upload: UploadRules | None = None
    idempotent: Literal["transaction", "lease"] | None = None
    lease: timedelta = idempotency.LEASE
    preview: type[Serializer] | None = None
    preview_status: int = 200
    writes: bool = True
    audited_read: bool = False
    claim_token: bool = False
    public: bool = False
    operator: bool = False
    raw_body: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    media_types: tuple[str, ...] = ()
    idempotency_actor: Callable[[Call], str] | None = None
    replay: Callable[[Call, IdempotencyRecord], Any] | None = None
    replay_status: int | None = None
    secrets: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    description: str = ""

    @property
    def resource(self) -> str:
        return self.name.partition(".")[0]

    @property
    def body_serializer(self) -> type[StrictSerializer]:
        return self.body or (WriteBody if self.preview else StrictSerializer)

    @property
    def query_serializer(self) -> type[QuerySerializer]:
        return WriteQuery if self.preview and self.query is QuerySerializer else self.query

    def writes_by(self, method: str) -> bool:
        """Whether a caller's request by this HTTP method may change something; a GET does where it can be previewed."""
        return self.writes and not self.public and (method not in SAFE_METHODS or self.preview is not None)


@dataclass
class Call:
    """One request's input, checked for form."""

    caller: Caller
    operation: Operation
    data: dict[str, Any]
    query: dict[str, Any]
    dry_run: bool
    request: Request
    path: dict[str, str]


@dataclass
class Reply:
    """A success: `data` is rendered by the serializer declared for `status`.

    `finish` runs after the commit and may bring newer data, as `wait` does. `response` is an answer that is not JSON; it
    is sent as it is.
    """

    data: Any
    status: int = 200
    resource_id: str = ""
    kept: Any = None  # what `replay` needs beside the resource_id
    finish: Callable[[], Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    response: HttpResponseBase | None = None


@dataclass
class Preview:
    """A dry run's answer: the resolved input, and what would be created, updated or deleted."""

    request: Any
    would: Any
    kind: Literal["would_create", "would_update", "would_delete"]
    unchecked: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)


def operation(name: str, **declared: Any) -> Callable[[Method], Method]:
    """Declare a view method `(self, call, **path) -> Reply | Preview` as the operation `resource.verb`."""
    declaration = Operation(name, **declared)
    if declaration.body and not declaration.body.__doc__:
        raise TypeError(f"{name}: its body's serializer says nothing about itself.")

    def decorate(method: Method) -> Method:
        @functools.wraps(method)
        def run(view: Any, request: Request, **path: str) -> HttpResponseBase:
            return _run(declaration, functools.partial(method, view), request, path)

        run.operation = declaration  # type: ignore[attr-defined]
        return run  # type: ignore[return-value]

    return decorate


def _run(declared: Operation, method: Callable[..., Any], request: Request, path: dict[str, str]) -> HttpResponseBase:
    caller = nobody() if declared.public else cast(Caller, request.user)
    call: Call | None = None
    with Spool(declared.upload.most_bytes if declared.upload else None) as spool:
        try:
            if any("\0" in value for value in path.values()):  # no text of PostgreSQL holds NUL
                raise errors.NotFound()
            key = idempotency.read_key(request.headers.get("Idempotency-Key")) if declared.idempotent else None
            if declared.upload:
                _require_scope(caller, declared)  # before hundreds of megabytes are read
            raw = read_body(declared, request, spool)
            try:
                with collected_webhook_urls() as webhook_urls:
                    data, query = check_body(declared, raw, spool), check_query(declared, request)
                call = Call(caller, declared, data, query, False, request, path)
                call.dry_run = take_dry_run(call)
                _require_scope(caller, declared)
                check_webhook_hosts(webhook_urls, caller)
            except INPUT_REFUSALS:
                given = raw if isinstance(raw, dict) else {}
                replayed = _replay_whatever_the_form(
                    Call(caller, declared, given, {}, False, request, path), key, spool
                )
                if replayed is None:
                    raise
                return replayed
            return _answer(call, functools.partial(method, call, **path), key)
        except Exception as error:
            if declared.audited_read or declared.writes_by(request.method or ""):
                dry_run = call.dry_run if call else asked_for_preview(declared, request, spool)
                import_string(settings.REFUSAL_RECORDER)(
                    caller=caller, operation=declared.name, error=error, dry_run=dry_run
                )
            raise


def _require_scope(caller: Caller, declared: Operation) -> None:
    """A user's scopes are known in a workspace only, and a claim token holds none."""
    if not caller.is_user and caller.kind != "claim":
        require_scope(caller, declared.scope)


def _answer(call: Call, work: Callable[[], Reply | Preview], key: str | None) -> HttpResponseBase:
    if key is None or call.dry_run:
        return _respond(call, work())
    ticket = _ticket(call, key)
    run: Callable[..., Any] = idempotency.in_transaction
    if call.operation.idempotent == "lease":
        run = functools.partial(idempotency.under_lease, lease=call.operation.lease)
    result = run(ticket, work, functools.partial(_keep, call))
    if isinstance(result, IdempotencyRecord):
        return _replay(call, result, idempotency.differs(result, ticket))
    return _respond(call, result)


def _ticket(call: Call, key: str) -> idempotency.Ticket:
    # A user has no workspace before the service lets them into one: the resource in the path stands for its own.
    workspace_id = call.caller.workspace_id or "/".join(call.path.values()) or str(call.data.get("workspace_id", ""))
    actor = call.caller.idempotency_actor
    if call.operation.idempotency_actor is not None:
        workspace_id, actor = "", call.operation.idempotency_actor(call)
    return idempotency.ticket(
        workspace_id=workspace_id,
        actor=actor,
        operation=call.operation.name,
        key=key,
        request=[call.path, call.data, call.query],
    )


def _replay_whatever_the_form(call: Call, key: str | None, spool: Spool) -> Response | None:
    """The replay of a key that has an answer, for a request that failed the check of its form; `call.data` is unchecked.

    None when there is no such answer, when a dry run was asked for, and for a caller who may not have the answer: they
    are told what is wrong with the form.
    """
    declared, only_previews = call.operation, call.caller.mode == Mode.DRY_RUN and call.operation.preview
    if key is None or only_previews or asked_for_preview(declared, call.request, spool):
        return None
    try:
        _require_scope(call.caller, declared)
        record = idempotency.find_answered(_ticket(call, key))
    except errors.ApiError:
        return None
    return _replay(call, record, request_differs=True) if record else None


def _keep(call: Call, reply: Reply) -> idempotency.Answer:
    """The answer as it is stored: rendered, each secret taken out; nothing where a replay shows the resource anew."""
    reply.body = render_reply(call, reply)
    kept = reply.kept
    if call.operation.replay is None:
        kept = {name: None if name in call.operation.secrets else value for name, value in reply.body.items()}
    return idempotency.Answer(reply.status, kept, reply.resource_id, call.caller.workspace_id or "")


def _replay(call: Call, record: IdempotencyRecord, request_differs: bool) -> Response:
    declared = call.operation
    if call.caller.is_user and record.workspace_id:  # keys are of one workspace; a person may have left it meanwhile
        require(call.caller, record.workspace_id, None, write=False)
    status = declared.replay_status or record.status
    body = record.body
    if declared.replay is not None:
        body = shape(declared.responses[record.status]).to_representation(declared.replay(call, record))
    headers = {"Idempotency-Replayed": "true"}
    if request_differs:
        headers["Idempotency-Request-Differs"] = "true"
    return Response(body, status=status, headers=headers)


def _respond(call: Call, result: Reply | Preview) -> HttpResponseBase:
    if isinstance(result, Preview):
        return Response(render_preview(call, result), status=call.operation.preview_status)
    if result.response is not None:
        return result.response
    if result.finish is not None:
        result.data, result.body = result.finish(), None
    body = result.body if result.body is not None else render_reply(call, result)
    return Response(body, status=result.status, headers=result.headers)
