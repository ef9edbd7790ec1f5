"""Error pages for Django: HTML under /dashboard/, /admin/ and for the OAuth server's pages, JSON errors everywhere else."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views.defaults import permission_denied as django_permission_denied

from config.api import errors
from config.api.error_handlers import django_error_response
from config.pages.language import PAGE_PATH_PREFIXES, console_path_if_in_console
from workspaces.workspace_page import api_error_page


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """JSON error for status 400 (handler400), such as for a wrong Host header."""
    return django_error_response(errors.MalformedRequest("Invalid Host header or malformed form."))


def permission_denied(request: HttpRequest, exception: Exception) -> Any:
    """Error page or JSON error for status 403 (handler403), depending on the path."""
    if request.path.startswith(PAGE_PATH_PREFIXES):
        return django_permission_denied(request, exception)
    return django_error_response(errors.Forbidden())


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Error page or JSON error for status 404 (handler404), depending on the path."""
    if request.path.startswith(PAGE_PATH_PREFIXES):
        return api_error_page(request, errors.NotFound(_("Page not found.")))
    return django_error_response(errors.NotFound())


def server_error(request: HttpRequest) -> HttpResponse:
    """Error page or JSON error for status 500 (handler500); reads nothing from the database, which may be down."""
    error = errors.InternalError()
    if request.path.startswith(PAGE_PATH_PREFIXES):
        trace_id, console_path = error.response_body()["trace_id"], console_path_if_in_console(request)
        context = {"error": error, "trace_id": trace_id, "user": None, "console_path": console_path}
        return HttpResponse(render_to_string("dashboard/error.html", context), status=error.status)
    return django_error_response(error)


def csrf_failure(request: HttpRequest, reason: str = "") -> Any:
    """Error page for a form that fails Django's CSRF check (CSRF_FAILURE_VIEW), with status 403."""
    if request.path.startswith(PAGE_PATH_PREFIXES):
        error = errors.Forbidden(
            _("The form was too old, or it came from another site, so nothing was changed."),
            suggested_action=_("Go back, reload the page and submit the form again."),
        )
        return api_error_page(request, error)
    return django_error_response(errors.Forbidden())
