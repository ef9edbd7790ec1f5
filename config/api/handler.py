"""Everything that goes wrong, turned into the envelope: for DRF's views, and for Django where no view was reached."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any

from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, JsonResponse, UnreadablePostError
from django.http.response import HttpResponseBase
from django.views.csrf import csrf_failure as django_csrf_failure
from django.views.decorators.csrf import csrf_exempt
from django.views.defaults import permission_denied as django_permission_denied
from rest_framework import exceptions
from rest_framework.response import Response

from config import metrics
from config.api import errors
from config.db.outage import DATABASE_ERRORS

logger = logging.getLogger(__name__)
PAGES = ("/admin/", "/dashboard/")  # where a person is, and gets HTML

_TRANSLATED: list[tuple[type[Exception] | tuple[type[Exception], ...], type[errors.ApiError]]] = [
    (Http404, errors.NotFound),
    (exceptions.NotFound, errors.NotFound),
    ((exceptions.NotAuthenticated, exceptions.AuthenticationFailed), errors.Unauthenticated),
    ((PermissionDenied, exceptions.PermissionDenied), errors.Forbidden),
    (exceptions.NotAcceptable, errors.NotAcceptable),
    (exceptions.UnsupportedMediaType, errors.UnsupportedMediaType),
    (RequestDataTooBig, errors.PayloadTooLarge),
    ((exceptions.ParseError, SuspiciousOperation, BadRequest, UnreadablePostError), errors.MalformedRequest),
    (DATABASE_ERRORS, errors.ServiceUnavailable),
]


def as_api_error(error: Exception) -> errors.ApiError:
    """The error in the form that callers get; what nobody foresaw is logged with its trace and told as INTERNAL_ERROR."""
    if isinstance(error, errors.ApiError):
        return error
    if isinstance(error, exceptions.MethodNotAllowed):
        return errors.MethodNotAllowed()
    if isinstance(error, exceptions.ValidationError):
        return errors.ValidationFailed(details=_details(error.detail))
    for classes, translated in _TRANSLATED:
        if isinstance(error, classes):
            if translated is errors.ServiceUnavailable:
                logger.error("The database did not serve a request: %s", error)
            return translated()
    logger.error("A request met a fault.", exc_info=error)
    return errors.InternalError()


def code_of(error: Exception) -> str:
    """The code that callers get for this error, for the audit log."""
    if isinstance(error, errors.ApiError):
        return error.code
    if isinstance(error, exceptions.ValidationError):
        return errors.ValidationFailed.code
    return next((told.code for classes, told in _TRANSLATED if isinstance(error, classes)), errors.InternalError.code)


def handle_exception(error: Exception, context: dict[str, Any]) -> Response:
    """DRF's EXCEPTION_HANDLER."""
    told = as_api_error(error)
    metrics.REFUSALS.labels(told.code).inc()
    return Response(told.envelope(), status=told.status, headers=told.headers)


def _details(detail: Any, path: str = "") -> list[dict[str, str]]:
    """DRF's nested error detail as a flat list of {field, code, message}."""
    if isinstance(detail, dict):
        found = []
        for key, value in detail.items():
            step = "" if key == "non_field_errors" else f"[{key}]" if isinstance(key, int) else str(key)
            joined = path + step if not path or not step or step.startswith("[") else f"{path}.{step}"
            found += _details(value, joined)
        return found
    if isinstance(detail, list):
        if detail and all(isinstance(part, dict) for part in detail):
            return [row for index, part in enumerate(detail) for row in _details(part, f"{path}[{index}]")]
        return [row for part in detail for row in _details(part, path)]
    return [{"field": path, "code": str(getattr(detail, "code", "invalid")), "message": str(detail)}]


def respond(error: errors.ApiError) -> JsonResponse:
    """The envelope as a plain Django response; its length is told here, since some never pass CommonMiddleware."""
    response = JsonResponse(error.envelope(), status=error.status, headers=error.headers)
    response["Content-Length"] = str(len(response.content))
    return response


def bad_request(request: HttpRequest, exception: Exception) -> JsonResponse:
    """handler400: a bad Host header, a suspicious operation."""
    return respond(errors.MalformedRequest("The request is not acceptable: its Host header or form is not right."))


def permission_denied(request: HttpRequest, exception: Exception) -> Any:
    """handler403: the envelope, and Django's own page where a person is at the admin or dashboard."""
    if request.path.startswith(PAGES):
        return django_permission_denied(request, exception)
    return respond(errors.Forbidden())


def csrf_failure(request: HttpRequest, reason: str = "") -> Any:
    """CSRF_FAILURE_VIEW: as `permission_denied`; no operation of the API takes cookies, so none is ever refused here."""
    if request.path.startswith(PAGES):
        return django_csrf_failure(request, reason)
    return respond(errors.Forbidden())


def read_only(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """For a plain view that answers GET and HEAD: any other method gets the envelope."""

    @csrf_exempt
    @functools.wraps(view)
    def answer(request: HttpRequest, **named: str) -> HttpResponseBase:
        if request.method in ("GET", "HEAD"):
            return view(request, **named)
        return respond(errors.MethodNotAllowed(headers={"Allow": "GET, HEAD"}))

    return answer


def not_found(request: HttpRequest, exception: Exception) -> JsonResponse:
    """handler404."""
    return respond(errors.NotFound())


def server_error(request: HttpRequest) -> JsonResponse:
    """handler500; Django has logged the fault."""
    return respond(errors.InternalError())
