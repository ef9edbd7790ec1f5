"""The @operation decorator, which declares an API operation and runs its requests.

`@operation("agents.create", …)` on a view method declares who may call it, its input and output, whether it is idempotent
and whether it can be previewed. The OpenAPI document is generated from the same declaration (schema.py).
The checks run in this order: authentication, rate limit, input, scope, then those of the service. A request whose
Idempotency-Key was already answered gets the stored answer even if its input is invalid, as long as its JSON is readable.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from django.conf import settings
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils.module_loading import import_string
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.serializers import BaseSerializer, Serializer

from config.api import errors, idempotency
from config.api.caller import AgentMode, Caller, require_access, require_scope
from config.api.dry_run import DryRunReply, dry_run_response_body, read_plan_hash_header
from config.api.models import IdempotencyRecord
from config.api.operation_input import (
    SAFE_METHODS,
    asks_for_dry_run,
    decide_dry_run_and_remove_flag,
    read_unvalidated_body,
    validated_body,
    validated_query,
)
from config.api.plan import PlanOfRequest, accept_only_plan_with_hash
from config.api.policies import Access, Body, Idempotency
from config.api.serializers import (
    DryRunQuery,
    QuerySerializer,
    StrictSerializer,
    WriteBody,
    shared_serializer_instance,
)
from config.api.uploads import UploadTempFiles
from config.api.webhook_url import check_webhook_hosts, collect_webhook_urls_for_host_check
from config.db.writes import Write

ViewMethod = TypeVar("ViewMethod", bound=Callable[..., Any])
INPUT_ERRORS = (ValidationError, errors.ValidationFailed, errors.WebhookUrlNotAllowed)


@dataclass(frozen=True)
class Operation:
    """The declaration of an API operation: what was given to the @operation decorator.

    `headers`: request headers that it reads. `media_types`: answers besides JSON (`Reply.response`).
    `audited_read`: a sensitive read that leaves an audit entry. The service records successes, this module refusals.
    """

    name: str
    summary: str
    responses: dict[int, type[BaseSerializer]]
    access: Access = field(default_factory=Access)
    body: Body = field(default_factory=Body)
    query: type[QuerySerializer] = QuerySerializer
    idempotency: Idempotency = field(default_factory=Idempotency)
    preview: type[Serializer] | None = None
    preview_status: int = 200
    writes: bool = True
    audited_read: bool = False
    headers: tuple[OpenApiParameter, ...] = ()
    media_types: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    description: str = ""

    @property
    def resource_name(self) -> str:
        return self.name.partition(".")[0]

    @property
    def body_serializer_class(self) -> type[StrictSerializer]:
        return self.body.serializer or (WriteBody if self.preview else StrictSerializer)

    @property
    def query_serializer_class(self) -> type[QuerySerializer]:
        return DryRunQuery if self.preview and self.query is QuerySerializer else self.query

    def counts_as_write_by_method(self, method: str) -> bool:
        """Return whether requests to an API operation by this HTTP method count as writes; False for public operations."""
        return self.writes and not self.access.public and (method not in SAFE_METHODS or self.preview is not None)


@dataclass
class Call:
    """One request to an API operation: its caller and its validated input.

    `stored_answer_writes` returns the writes that store a reply for the request's Idempotency-Key, if it has one.
    """

    caller: Caller
    operation: Operation
    data: dict[str, Any]
    query: dict[str, Any]
    dry_run: bool
    request: Request
    path: dict[str, str]
    stored_answer_writes: Callable[[Reply], list[Write]] = lambda reply: []
    plan_of_request: PlanOfRequest = field(default_factory=PlanOfRequest)

    @property
    def plan_hash(self) -> str | None:
        """Return the Plan-Hash of this Call of an operation: the hash of the only plan that may be carried out."""
        return self.plan_of_request.expected_hash


@dataclass
class Reply:
    """What a view method returns for a successful API operation: its `data`, and its HTTP `status`.

    `body` is given instead of `data` by frequent reads, whose JSON data is made without a serializer.
    `reload_after_commit` runs after the commit and returns newer data, for `wait` for example. `response` is an answer other
    than JSON, sent unchanged.
    """

    data: Any = None
    status: int = 200
    resource_id: str = ""
    replay_data: Any = None  # what `replay` needs besides the resource_id
    reload_after_commit: Callable[[], Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    response: HttpResponseBase | None = None


def operation(name: str, **declared: Any) -> Callable[[ViewMethod], ViewMethod]:
    """Decorate a view's method `(self, call, **path) -> Reply | DryRunReply` as an API operation, such as `posts.create`."""
    declaration = Operation(name, **declared)
    if declaration.body.serializer and not declaration.body.serializer.__doc__:
        raise TypeError(f"{name}: the serializer of its body needs a docstring.")

    def decorate(method: ViewMethod) -> ViewMethod:
        @functools.wraps(method)
        def run(view: Any, request: Request, **path: str) -> HttpResponseBase:
            return _run(declaration, functools.partial(method, view), request, path)

        run.operation = declaration  # type: ignore[attr-defined]
        return run  # type: ignore[return-value]

    return decorate


def _run(declared: Operation, method: Callable[..., Any], request: Request, path: dict[str, str]) -> HttpResponseBase:
    caller = Caller("nobody", "nobody") if declared.access.public else cast(Caller, request.user)
    call: Call | None = None
    with UploadTempFiles(declared.body.upload.max_bytes_by_path if declared.body.upload else None) as spool:
        try:
            if any("\0" in value for value in path.values()):  # PostgreSQL text cannot contain NUL
                raise errors.NotFound()
            key = (
                idempotency.validated_idempotency_key(request.META.get("HTTP_IDEMPOTENCY_KEY"))
                if declared.idempotency.mode
                else None
            )
            if declared.body.upload:
                _require_scope(caller, declared)  # before hundreds of megabytes are read
            raw = read_unvalidated_body(declared, request, spool)
            try:
                with collect_webhook_urls_for_host_check() as webhook_urls:
                    data, query = validated_body(declared, raw, spool), validated_query(declared, request)
                call = Call(caller, declared, data, query, False, request, path)
                call.dry_run = decide_dry_run_and_remove_flag(call)
                plan_hash = read_plan_hash_header(declared, request)
                _require_scope(caller, declared)
                check_webhook_hosts(webhook_urls, caller)
            except INPUT_ERRORS:
                given = raw if isinstance(raw, dict) else {}
                replayed = _replay_despite_invalid_input(Call(caller, declared, given, {}, False, request, path), key, spool)
                if replayed is None:
                    raise
                return replayed
            with accept_only_plan_with_hash(plan_hash) as call.plan_of_request:
                return _answer(call, functools.partial(method, call, **path), key)
        except Exception as error:
            if declared.audited_read or declared.counts_as_write_by_method(request.method or ""):
                dry_run = call.dry_run if call else asks_for_dry_run(declared, request, spool)
                import_string(settings.REFUSAL_RECORDER)(caller=caller, operation=declared.name, error=error, dry_run=dry_run)
            raise


def _require_scope(caller: Caller, declared: Operation) -> None:
    """Check, before an API operation runs, that the API key or agent has its scope; the scopes of users are checked later."""
    if not caller.is_user and caller.kind != "claim":
        require_scope(caller, declared.access.scope)


def _answer(call: Call, work: Callable[[], Reply | DryRunReply], key: str | None) -> HttpResponseBase:
    if key is None or call.dry_run:
        return _respond(call, work())
    keyed = _keyed_request(call, key)
    policy, stored = call.operation.idempotency, functools.partial(_stored_answer, call)
    if policy.mode == "commit":
        call.stored_answer_writes = lambda reply: [idempotency.build_stored_answer_write(keyed, stored(reply))]
        result = idempotency.run_request_storing_its_response_or_replay(keyed, work)
    elif policy.mode == "lease":
        result = idempotency.run_slow_request_or_replay(keyed, work, stored, lease=policy.lease)
    else:
        result = idempotency.run_or_replay_in_transaction(keyed, work, stored)
    if isinstance(result, IdempotencyRecord):
        return _replay(call, result, request_differs=result.fingerprint != keyed.fingerprint)
    return _respond(call, result)


def _keyed_request(call: Call, key: str) -> idempotency.KeyedRequest:
    # A user has no workspace before the service grants access to one: the resource in the path is used instead.
    workspace_id = call.caller.workspace_id or "/".join(call.path.values()) or str(call.data.get("workspace_id", ""))
    actor = call.caller.idempotency_key_owner
    if call.operation.idempotency.actor is not None:
        workspace_id, actor = "", call.operation.idempotency.actor(call)
    return idempotency.build_keyed_request(
        workspace_id=workspace_id,
        actor=actor,
        operation=call.operation.name,
        key=key,
        request=[call.path, call.data, call.query],
    )


def _replay_despite_invalid_input(call: Call, key: str | None, spool: UploadTempFiles) -> HttpResponse | None:
    """Return the response stored for an Idempotency-Key when its request is repeated with invalid input, if there is one.

    None if no answer is stored, if the request is a dry run, or if the caller may not read the answer; the request then
    fails with the validation error. `call.data` is not validated.
    """
    declared, only_previews = call.operation, call.caller.mode == AgentMode.DRY_RUN and call.operation.preview
    if key is None or only_previews or asks_for_dry_run(declared, call.request, spool):
        return None
    try:
        _require_scope(call.caller, declared)
        record = idempotency.find_answered_record(_keyed_request(call, key))
    except errors.ApiError:
        return None
    return _replay(call, record, request_differs=True) if record else None


def _stored_answer(call: Call, reply: Reply) -> idempotency.StoredAnswer:
    """Return an operation's rendered response without the secrets that it declares, for storing with the Idempotency-Key."""
    body = reply.replay_data
    if call.operation.idempotency.replay is None:
        reply.body = _render(call, reply.status, reply.data)
        body = {name: None if name in call.operation.idempotency.secrets else value for name, value in reply.body.items()}
    return idempotency.StoredAnswer(reply.status, body, reply.resource_id, call.caller.workspace_id or "")


def _replay(call: Call, record: IdempotencyRecord, request_differs: bool) -> HttpResponse:
    declared = call.operation
    if call.caller.is_user and record.workspace_id:  # a key belongs to one workspace; a person may have left it since
        require_access(call.caller, record.workspace_id, None, write=False)
    status = declared.idempotency.replay_status or record.status
    body = record.body
    if declared.idempotency.replay is not None:
        body = _render(call, record.status, declared.idempotency.replay(call, record))
    headers = {"Idempotency-Replayed": "true", **({"Idempotency-Request-Differs": "true"} if request_differs else {})}
    return _json_response(call, body, status, headers)


def _respond(call: Call, result: Reply | DryRunReply) -> HttpResponseBase:
    if isinstance(result, DryRunReply):
        if call.plan_of_request.plan is not None:
            result.plan_hash = call.plan_of_request.plan.hash
        return _json_response(call, dry_run_response_body(call.operation, result), call.operation.preview_status)
    if result.response is not None:
        return result.response
    if result.reload_after_commit is not None:
        result.data, result.body = result.reload_after_commit(), None
    body = result.body if result.body is not None else _render(call, result.status, result.data)
    return _json_response(call, body, result.status, result.headers)


def _json_response(call: Call, body: Any, status: int, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """Return an operation's JSON data as a plain Django response, cheaper than REST framework's template response."""
    renderer = call.request.accepted_renderer
    content = renderer.render(body, call.request.accepted_media_type, {})
    return HttpResponse(content, status=status, headers=headers, content_type=renderer.media_type)


def _render(call: Call, status: int, data: Any) -> Any:
    """Return an API operation's result as JSON data, by the serializer that the operation declares for this HTTP status."""
    return shared_serializer_instance(call.operation.responses[status]).to_representation(data)
