"""Django's error views: HTML pages under /dashboard/ and /admin/, the JSON error envelope everywhere else."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.csrf import csrf_failure as django_csrf_failure
from django.views.defaults import permission_denied as django_permission_denied

from config.api import errors
from config.api.error_handlers import error_response
from workspaces.workspace_page import error_page

ADMIN, DASHBOARD = "/admin/", "/dashboard/"


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 400 for a bad Host header or another suspicious request (Django's handler400)."""
    return error_response(errors.MalformedRequest("Invalid Host header or malformed form."))


def permission_denied(request: HttpRequest, exception: Exception) -> Any:
    """Answer 403 with a page or the JSON error envelope (Django's handler403)."""
    if request.path.startswith((ADMIN, DASHBOARD)):
        return django_permission_denied(request, exception)
    return error_response(errors.Forbidden())


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 404 with a page or the JSON error envelope (Django's handler404)."""
    if request.path.startswith(DASHBOARD):
        return error_page(request, errors.NotFound("Page not found."))
    return error_response(errors.NotFound())


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 500 (Django's handler500). The page makes no database query: the database may be the cause."""
    error = errors.InternalError()
    if request.path.startswith(DASHBOARD):
        context = {"error": error, "trace_id": error.envelope()["trace_id"], "user": None}
        return HttpResponse(render_to_string("dashboard/error.html", context), status=error.status)
    return error_response(error)


def csrf_failure(request: HttpRequest, reason: str = "") -> Any:
    """Answer 403 for a failed CSRF check (CSRF_FAILURE_VIEW). API operations take no cookies and never fail it."""
    if request.path.startswith(DASHBOARD):
        error = errors.Forbidden(
            "The form was too old, or it came from another site, so nothing was changed.",
            suggested_action="Go back, reload the page and submit the form again.",
        )
        return error_page(request, error)
    if request.path.startswith(ADMIN):
        return django_csrf_failure(request, reason)
    return error_response(errors.Forbidden())
