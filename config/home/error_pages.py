"""What Django answers by itself: pages where a person is at the dashboard, the envelope of the API anywhere else."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from config.api import errors, handler
from workspaces.workspace_page import error_page

DASHBOARD = "/dashboard/"


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler404."""
    if request.path.startswith(DASHBOARD):
        return error_page(request, errors.NotFound("Page not found."))
    return handler.not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """handler500; Django has logged the fault. The page asks nothing of the database, which may be what is missing."""
    if request.path.startswith(DASHBOARD):
        told = errors.InternalError()
        shown = {"error": told, "trace_id": told.envelope()["trace_id"], "user": None}
        return HttpResponse(render_to_string("dashboard/error.html", shown), status=told.status)
    return handler.server_error(request)


def csrf_failure(request: HttpRequest, reason: str = "") -> Any:
    """CSRF_FAILURE_VIEW: a page that says what to do, instead of Django's own."""
    if request.path.startswith(DASHBOARD):
        told = errors.Forbidden(
            "The form was too old, or it came from another site, so nothing was changed.",
            suggested_action="Go back, load the page again and send the form once more.",
        )
        return error_page(request, told)
    return handler.csrf_failure(request, reason)
