"""The OAuth server's endpoints for programs. They answer in OAuth's own formats and ignore unknown parameters.

The pages on which people decide are in config/home.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from oauthlib.oauth2 import OAuth2Error

from agents.oauth import server
from agents.oauth.addresses import MCP_PATH, issuer
from agents.oauth.client_metadata import NO_CLIENT_AUTHENTICATION, parse_client_metadata
from agents.oauth.clients import register_client
from agents.oauth.device_authorizations import begin_device_authorization
from agents.oauth.documents import build_authorization_server_metadata, build_protected_resource_metadata
from agents.oauth.errors import InvalidClientMetadata
from config.api import rate_limit
from config.api.client_address import client_address_for_rate_limits
from config.api.error_handlers import log_and_convert_to_api_error
from config.api.errors import MalformedRequest, MethodNotAllowed, RateLimited, UnsupportedMediaType
from config.api.request_body import parse_json
from config.api.views import require_safe_with_json_error

REGISTRATIONS_PER_HOUR = 20  # for each address
REQUESTS_PER_MINUTE = 120  # at the other endpoints
DEVICES_PER_MINUTE = 20
# The OAuth errors of failures that are not about OAuth, by HTTP status (RFC 6749, section 4.1.2.1).
_ERRORS_OF_STATUS = {429: "temporarily_unavailable", 500: "server_error", 503: "temporarily_unavailable"}
EndpointView = Callable[[HttpRequest], HttpResponse]


def rate_limited_oauth_endpoint(
    name: str, *, limit: int, period: float = rate_limit.PERIOD_SECONDS
) -> Callable[[EndpointView], EndpointView]:
    """Decorator for views of the OAuth server: POST only, rate-limited by address, with errors in OAuth's format.

    No answer may be stored by caches.
    """

    def declare(view: EndpointView) -> EndpointView:
        @csrf_exempt
        @functools.wraps(view)
        def answer(request: HttpRequest) -> HttpResponse:
            try:
                if request.method != "POST":
                    raise MethodNotAllowed(headers={"Allow": "POST"})
                request.body  # noqa: B018 - the request is counted once it has arrived, because it may be run twice
                verdict = rate_limit.count_request_unless_rate_limited(
                    rate_limit.Bucket(f"oauth-{name}:{client_address_for_rate_limits(request)}", limit, period)
                )
                if not verdict.allowed:
                    raise RateLimited(headers=verdict.headers())
                response = view(request)
            except OAuth2Error as error:
                response = JsonResponse(dict(error.twotuples), status=error.status_code, headers=error.headers)
            except Exception as error:
                response = _json_error_response(error)
            response["Cache-Control"] = "no-store"
            return response

        return answer

    return declare


@rate_limited_oauth_endpoint("token", limit=REQUESTS_PER_MINUTE)
def token_endpoint(request: HttpRequest) -> HttpResponse:
    """View of the OAuth server: exchange an authorization code, refresh token or device code for tokens (RFC 6749, 8628)."""
    return _http_response(server.answer_token_request(_form(request)))


@rate_limited_oauth_endpoint("revoke", limit=REQUESTS_PER_MINUTE)
def revocation_endpoint(request: HttpRequest) -> HttpResponse:
    """View of the OAuth server: revoke an access token, or a refresh token with all tokens of its grant (RFC 7009)."""
    return _http_response(server.answer_revocation_request(_form(request)))


@rate_limited_oauth_endpoint("register", limit=REGISTRATIONS_PER_HOUR, period=3600.0)
def registration_endpoint(request: HttpRequest) -> HttpResponse:
    """View of the OAuth server: register a client, which needs no sign-in (RFC 7591)."""
    if request.content_type != "application/json":
        raise UnsupportedMediaType()
    try:
        document = parse_json(request.body)
    except MalformedRequest as error:
        raise InvalidClientMetadata(error.message) from error
    metadata = parse_client_metadata(document)
    client = register_client(metadata)
    registered = {
        "client_id": client.client_id,
        "client_id_issued_at": int(client.created_at.timestamp()),
        "client_name": client.name,
        "redirect_uris": client.redirect_uris,
        "grant_types": client.grant_types,
        "response_types": ["code"] if client.redirect_uris else [],
        "token_endpoint_auth_method": NO_CLIENT_AUTHENTICATION,
    }
    return JsonResponse(registered, status=201)


@rate_limited_oauth_endpoint("device", limit=DEVICES_PER_MINUTE)
def device_authorization_endpoint(request: HttpRequest) -> HttpResponse:
    """View of the OAuth server: begin the device flow for a client without a browser (RFC 8628)."""
    started = begin_device_authorization(
        requested=server.read_device_request(_form(request), asked_by=client_address_for_rate_limits(request))
    )
    page = f"{issuer()}/oauth/device"
    return JsonResponse(
        {
            "device_code": started.device_code,
            "user_code": started.user_code,
            "verification_uri": page,
            "verification_uri_complete": f"{page}?user_code={started.user_code}",
            "expires_in": started.expires_in,
            "interval": started.interval,
        }
    )


@require_safe_with_json_error
def serve_authorization_server_metadata(request: HttpRequest) -> HttpResponse:
    """View of the OAuth server: the metadata document of the server itself (RFC 8414)."""
    return _document(build_authorization_server_metadata())


@require_safe_with_json_error
def serve_api_resource_metadata(request: HttpRequest) -> HttpResponse:
    """View of the OAuth server: the metadata document of the API as a protected resource (RFC 9728)."""
    return _document(build_protected_resource_metadata(""))


@require_safe_with_json_error
def serve_mcp_resource_metadata(request: HttpRequest) -> HttpResponse:
    """View of the OAuth server: the metadata document of the MCP endpoint as a protected resource (RFC 9728)."""
    return _document(build_protected_resource_metadata(MCP_PATH))


for _view in (serve_authorization_server_metadata, serve_api_resource_metadata, serve_mcp_resource_metadata):
    _view.for_programs = True  # type: ignore[attr-defined]  # without sessions (config/pages/api_or_page.py)


def _document(metadata: dict[str, Any]) -> HttpResponse:
    return JsonResponse(metadata, headers={"Cache-Control": "public, max-age=3600", "Access-Control-Allow-Origin": "*"})


def _form(request: HttpRequest) -> list[tuple[str, str]]:
    if request.content_type != "application/x-www-form-urlencoded":
        raise UnsupportedMediaType()
    return [(name, str(value)) for name, values in request.POST.lists() for value in values]


def _http_response(answer: server.Answer) -> HttpResponse:
    headers, body, status = answer
    return HttpResponse(body, status=status, headers={"Content-Type": "application/json", **headers})


def _json_error_response(error: Exception) -> HttpResponse:
    """Return the OAuth endpoint's JSON response to a failure that is not about OAuth, such as a rate limit."""
    failure = log_and_convert_to_api_error(error)
    code = _ERRORS_OF_STATUS.get(failure.status, "invalid_request")
    body = {"error": code, "error_description": failure.message}
    return JsonResponse(body, status=failure.status, headers=failure.headers)
