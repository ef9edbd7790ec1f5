"""The view of the Model Context Protocol endpoint: answers one JSON-RPC request in JSON, without sessions or streams.

Refusals of HTTP itself, such as a missing token, are answered with the API's error body.
"""

from __future__ import annotations

import json
from typing import Any, cast
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework.request import Request

from agents.authentication import BearerAuthentication
from config.api import errors
from config.api.caller import Caller
from config.api.error_handlers import error_response, to_api_error
from config.api.request_body import parse_json
from config.api.trace import set_trace_actor
from config.api.views import enforce_rate_limits
from config.mcp.protocol import (
    CURRENT_REVISION,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    META_KEY_PREFIX,
    METHOD_NOT_FOUND,
    OLDER_REVISIONS,
    PARSE_ERROR,
    RpcError,
    RpcRequest,
    read_request,
)
from config.mcp.toolset import TOOLS

SERVER_INFO = {"name": "social-publishing", "title": "Social publishing", "version": "1"}
CACHE_HINTS = {"ttlMs": 300_000, "cacheScope": "private"}


@csrf_exempt
def mcp(request: HttpRequest) -> HttpResponse:
    """View: the endpoint of the Model Context Protocol, for every key or token that opens the API."""
    headers: dict[str, str] = {}
    try:
        _check_http(request)
        caller = _authenticated(request)
        headers = enforce_rate_limits(caller, request.META["wsgi.input"])
        response = _answer(request, caller)
    except Exception as error:
        return error_response(to_api_error(error))
    for name, value in headers.items():
        response[name] = value
    return response


mcp.for_programs = True  # type: ignore[attr-defined]  # without sessions and CSRF checks (config/pages/api_or_page.py)


def _check_http(request: HttpRequest) -> None:
    """Refuse MCP requests by other methods or from pages of other origins, and bodies and answers that are not JSON."""
    origin = request.headers.get("Origin")
    own = urlsplit(settings.BASE_URL)
    if origin is not None and origin.lower() != f"{own.scheme}://{own.netloc}".lower():
        raise errors.Forbidden("Requests from this origin are not accepted.")
    if request.method != "POST":
        raise errors.MethodNotAllowed(headers={"Allow": "POST"})
    if not request.accepts("application/json"):
        raise errors.NotAcceptable()
    if request.content_type != "application/json":
        raise errors.UnsupportedMediaType()


def _authenticated(request: HttpRequest) -> Caller:
    found = BearerAuthentication().authenticate(cast(Request, request))
    if found is None:
        raise errors.Unauthenticated()
    caller = found[0]
    if caller.kind == "claim":
        raise errors.Unauthenticated("A claim token can only be used for POST /agents/claim.")
    caller.via = "mcp"
    set_trace_actor(caller)
    return caller


def _answer(request: HttpRequest, caller: Caller) -> HttpResponse:
    rpc: RpcRequest | None = None
    try:
        try:
            body = parse_json(request.read())
        except errors.MalformedRequest as error:
            raise RpcError(PARSE_ERROR, error.message) from error
        rpc = read_request(body, request.headers)
        if rpc.id is None:
            return HttpResponse(status=202)
        result = _result(rpc, caller)
    except RpcError as error:
        older = rpc is not None and not rpc.is_current_revision
        return JsonResponse(error.body(), status=200 if older else error.status)
    if rpc.is_current_revision:
        result = {**result, "resultType": "complete", "_meta": {f"{META_KEY_PREFIX}serverInfo": SERVER_INFO}}
    return JsonResponse({"jsonrpc": "2.0", "id": rpc.id, "result": result})


def _result(rpc: RpcRequest, caller: Caller) -> dict[str, Any]:
    capabilities: dict[str, Any] = {"tools": {}}
    caching = CACHE_HINTS if rpc.is_current_revision else {}
    if rpc.method == "tools/list":
        return {"tools": [tool.listing() for tool in TOOLS.values()], **caching}
    if rpc.method == "tools/call":
        return _call_tool(rpc, caller)
    if rpc.is_current_revision and rpc.method == "server/discover":
        return {"supportedVersions": [CURRENT_REVISION, *OLDER_REVISIONS], "capabilities": capabilities, **caching}
    if not rpc.is_current_revision and rpc.method == "ping":
        return {}
    if not rpc.is_current_revision and rpc.method == "initialize":
        wanted = rpc.params.get("protocolVersion")
        version = wanted if wanted in OLDER_REVISIONS else OLDER_REVISIONS[0]
        return {"protocolVersion": version, "capabilities": capabilities, "serverInfo": SERVER_INFO}
    raise RpcError(METHOD_NOT_FOUND, "This method does not exist.", id=rpc.id)


def _call_tool(rpc: RpcRequest, caller: Caller) -> dict[str, Any]:
    """Run an MCP tool. What the model can correct is a result with `isError` and the API's error body."""
    name = rpc.params.get("name")
    tool = TOOLS.get(name) if isinstance(name, str) else None
    if tool is None:
        raise RpcError(INVALID_PARAMS, "There is no such tool.", id=rpc.id)
    failed = False
    try:
        content = tool.call(caller, rpc.params.get("arguments", {}))
    except Exception as error:
        refusal = to_api_error(error)
        if isinstance(refusal, errors.InternalError):
            raise RpcError(INTERNAL_ERROR, refusal.message, id=rpc.id) from error
        failed, content = True, refusal.response_body()
    text = json.dumps(content, ensure_ascii=False)
    return {"content": [{"type": "text", "text": text}], "structuredContent": content, "isError": failed}
