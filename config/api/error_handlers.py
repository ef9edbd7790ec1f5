"""The error handlers of the API, which turn Python exceptions into JSON error responses."""

from __future__ import annotations

import logging
from typing import Any

from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, JsonResponse, UnreadablePostError
from rest_framework import exceptions
from rest_framework.response import Response

from config import metrics
from config.api import errors
from config.db.outage import DATABASE_ERRORS

logger = logging.getLogger(__name__)

_TRANSLATED: list[tuple[type[Exception] | tuple[type[Exception], ...], type[errors.ApiError]]] = [
    (Http404, errors.NotFound),
    (exceptions.NotFound, errors.NotFound),
    ((exceptions.NotAuthenticated, exceptions.AuthenticationFailed), errors.Unauthenticated),
    ((PermissionDenied, exceptions.PermissionDenied), errors.Forbidden),
    (exceptions.MethodNotAllowed, errors.MethodNotAllowed),
    (exceptions.NotAcceptable, errors.NotAcceptable),
    (exceptions.UnsupportedMediaType, errors.UnsupportedMediaType),
    (RequestDataTooBig, errors.PayloadTooLarge),
    ((exceptions.ParseError, SuspiciousOperation, BadRequest, UnreadablePostError), errors.MalformedRequest),
    (DATABASE_ERRORS, errors.ServiceUnavailable),
]


def log_and_convert_to_api_error(error: Exception) -> errors.ApiError:
    """Return the ApiError with which the error handlers answer an exception; an unexpected one becomes INTERNAL_ERROR."""
    api_error = _translated(error)
    if isinstance(error, DATABASE_ERRORS):
        logger.error("The database failed during a request: %s", error)
    elif isinstance(api_error, errors.InternalError) and api_error is not error:
        logger.error("Unhandled exception in a request.", exc_info=error)
    return api_error


def error_code_of_exception(error: Exception) -> str:
    """Return the error code, such as NOT_FOUND, with which the error handlers answer an exception; audit entries store it."""
    return _translated(error).code


def _translated(error: Exception) -> errors.ApiError:
    if isinstance(error, errors.ApiError):
        return error
    if isinstance(error, exceptions.ValidationError):
        return errors.ValidationFailed(details=_details(error.detail))
    return next((api_error() for classes, api_error in _TRANSLATED if isinstance(error, classes)), errors.InternalError())


def handle_exception(error: Exception, context: dict[str, Any]) -> Response:
    """Return the error response for an exception in an API view; this is DRF's EXCEPTION_HANDLER."""
    api_error = log_and_convert_to_api_error(error)
    metrics.API_ERRORS.labels(api_error.code).inc()
    return Response(api_error.response_body(), status=api_error.status, headers=api_error.headers)


def _details(detail: Any, path: str = "") -> list[dict[str, str]]:
    """Return DRF's nested validation errors, for the error handlers, as a list of {field, code, message}."""
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


def django_error_response(error: errors.ApiError) -> JsonResponse:
    """Error handler for code outside API views: return an API error as a plain Django response with a JSON body."""
    response = JsonResponse(error.response_body(), status=error.status, headers=error.headers)
    response["Content-Length"] = str(len(response.content))
    return response
