"""The view of the Model Context Protocol endpoint: answers one JSON-RPC request in JSON, without sessions or streams.

Refusals of HTTP itself, such as a missing token, are answered with the API's error body.
"""

from __future__ import annotations

import json
from typing import cast
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework.request import Request

from agents.authentication import McpBearerAuthentication
from agents.oauth.addresses import MCP_PATH, www_authenticate_header
from config.api import errors
from config.api.caller import Caller
from config.api.error_handlers import django_error_response, log_and_convert_to_api_error
from config.api.request_body import parse_json
from config.api.trace import set_trace_actor
from config.api.views import enforce_rate_limits_and_return_headers
from config.mcp.methods import run_method_as_json
from config.mcp.protocol import PARSE_ERROR, RpcError, RpcRequest, parse_and_check_request, user_agent_product


@csrf_exempt
def mcp(request: HttpRequest) -> HttpResponse:
    """View: the endpoint of the Model Context Protocol, for every key or token that opens the API."""
    headers: dict[str, str] = {}
    try:
        _check_http(request)
        caller = _authenticated(request)
        headers = enforce_rate_limits_and_return_headers(caller, request.META["wsgi.input"])
        response = _answer(request, caller)
    except Exception as error:
        refusal = django_error_response(log_and_convert_to_api_error(error))
        if refusal.status_code == 401:
            invalid = {"error": "invalid_token"} if "Authorization" in request.headers else {}  # RFC 6750, section 3.1
            refusal["WWW-Authenticate"] = www_authenticate_header(MCP_PATH, **invalid)
        return refusal
    for name, value in headers.items():
        response[name] = value
    return response


mcp.for_programs = True  # type: ignore[attr-defined]  # without sessions and CSRF checks (config/pages/api_or_page.py)


def _check_http(request: HttpRequest) -> None:
    """Refuse MCP requests with other methods than POST or from pages of other origins, and bodies that are not JSON."""
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
    found = McpBearerAuthentication().authenticate(cast(Request, request))
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
        rpc = parse_and_check_request(body, request.headers)
        if rpc.id is None:
            return HttpResponse(status=202)
        caller.client = caller.client or rpc.client_name or user_agent_product(request.headers)
        result = run_method_as_json(rpc, caller)
    except RpcError as error:
        older = rpc is not None and not rpc.is_current_revision
        return JsonResponse(error.body(), status=200 if older else error.status)
    answer = f'{{"jsonrpc":"2.0","id":{json.dumps(rpc.id)},"result":{result}}}'
    return HttpResponse(answer, content_type="application/json")
