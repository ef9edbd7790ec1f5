"""Middleware for all requests: trace ids, access log, client addresses, body limits, no tokens over plain http."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from config import metrics
from config.api.error_handlers import django_error_response
from config.api.errors import Forbidden, PayloadTooLarge
from config.api.incoming_body import MAX_BODY_BYTES, IncomingBody
from config.api.request_limits import start_cpu_timer
from config.api.trace import TRACE_HEADER, start_or_continue_trace
from config.api.uploads import max_upload_body_bytes_by_content_type

logger = logging.getLogger("access")
HTTP_METHODS = frozenset({"GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"})
NO_ROUTE = "-"  # logged as the operation when no route matches
PROBE_ROUTES = frozenset({"healthz", "readyz", "metrics"})
# W3C Trace Context: version 00, 32 hex of trace id (not all zero), 16 hex of parent (not all zero), 2 hex of flags.
_TRACEPARENT = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


class TraceMiddleware(MiddlewareMixin):
    """The middleware that starts a trace for each request, or continues the one in `traceparent`; sends `x-trace-id`."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        match = _TRACEPARENT.fullmatch(request.META.get("HTTP_TRACEPARENT", ""))
        trace_id = start_or_continue_trace(match.group(1) if match else "")
        response = cast(HttpResponse, self.get_response(request))
        response[TRACE_HEADER] = trace_id
        return response


class AccessLogMiddleware(MiddlewareMixin):
    """The middleware that writes the access log, measures requests, and starts the timer of the CPU limit.

    Paths are not logged because some contain ids or tokens. The trace id leads from the log line to the audit entry.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        began = time.perf_counter()
        start_cpu_timer()
        response = cast(HttpResponse, self.get_response(request))
        seconds = time.perf_counter() - began
        method = request.method if request.method in HTTP_METHODS else "OTHER"
        operation, status, ms = _operation_name(request), response.status_code, round(seconds * 1000, 1)
        metrics.REQUESTS.labels(operation, str(status)).observe(seconds)
        static = operation == NO_ROUTE and status < 400  # WhiteNoise answers static files before URL resolving
        logger.log(
            logging.DEBUG if static or operation in PROBE_ROUTES else logging.INFO,
            "%s %s %d in %s ms",
            *(method, operation, status, ms),
            extra={"operation": operation, "method": method, "status": status, "ms": ms},
        )
        return response


def _operation_name(request: HttpRequest) -> str:
    """Return the name of a request for AccessLogMiddleware: its API operation, else its URL route, else NO_ROUTE."""
    match = request.resolver_match
    if match is None:
        return NO_ROUTE
    action = getattr(match.func, "actions", {}).get((request.method or "").lower())
    declared = getattr(getattr(getattr(match.func, "cls", None), action or "", None), "operation", None)
    return declared.name if declared else match.route


class ClientAddressMiddleware(MiddlewareMixin):
    """The middleware that sets REMOTE_ADDR to the IP address of the client instead of that of our reverse proxy.

    X-Forwarded-For is read from its end, where trusted proxies append. Entries before theirs can be forged by the client.
    """

    def process_request(self, request: HttpRequest) -> None:
        forwarded = request.META.get("HTTP_X_FORWARDED_FOR")
        if not forwarded:
            return
        hops = [hop.strip() for hop in forwarded.split(",")]
        while hops and _is_ours(request.META.get("REMOTE_ADDR", "")) and (address := _plain_address(hops.pop())):
            request.META["REMOTE_ADDR"] = address
            if "*" in settings.TRUSTED_PROXIES:  # only the direct peer is trusted: earlier entries may be forged
                break


def _plain_address(hop: str) -> str:
    """Return the IP address in an entry of X-Forwarded-For, which the middleware reads; "" if it is no address."""
    for candidate in (hop, hop.rpartition(":")[0].strip("[]"), hop.strip("[]")):
        try:
            return str(ip_address(candidate))
        except ValueError:
            continue
    return ""


def _is_ours(address: str) -> bool:
    """Return whether the middleware trusts the proxy at this IP address; a Unix socket, which has no address, is trusted."""
    if not address or "*" in settings.TRUSTED_PROXIES:
        return True
    try:
        return any(ip_address(address) in _network(proxy) for proxy in settings.TRUSTED_PROXIES)
    except ValueError:
        return False


@lru_cache(maxsize=100)
def _network(proxy: str) -> IPv4Network | IPv6Network:
    return ip_network(proxy, strict=False)


class RefuseTokenOverPlainHttpMiddleware(MiddlewareMixin):
    """The middleware that refuses requests with a token over plain http in production.

    A redirect would hide the mistake: the client would continue to send its token unencrypted.
    """

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if not settings.PRODUCTION or "HTTP_AUTHORIZATION" not in request.META or request.is_secure():
            return None
        error = Forbidden(
            "This request came over plain http, so its token was sent unencrypted.",
            suggested_action="Use https, and replace the token: others may have read it.",
        )
        return django_error_response(error)


class BodyLimitMiddleware(MiddlewareMixin):
    """The middleware that limits the size of request bodies, with and without a Content-Length.

    The limit is 1 MB, and more for uploads and pages that take files.
    """

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        """Middleware hook: refuse a request whose Content-Length is too large, and limit a body that is still being received.

        Pages that take files are not refused by their Content-Length: they show the error themselves, in HTML.
        """
        page_takes_files = getattr(view, "takes_files", False)  # the page refuses long bodies itself, in HTML
        takes_files = page_takes_files or request.path == "/media"
        limit = max_upload_body_bytes_by_content_type(request.content_type or "") if takes_files else MAX_BODY_BYTES
        declared = request.META.get("CONTENT_LENGTH") or ""
        if declared.isdigit() and int(declared) > limit and not page_takes_files:
            return django_error_response(PayloadTooLarge())
        source = request.META["wsgi.input"]
        if isinstance(source, IncomingBody):
            source.limit = limit
        return None
