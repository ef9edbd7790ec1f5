"""Middleware that records when sign-in sessions are used, and ends the expired sign-in sessions of operators."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from workspaces.sign_in.sessions import has_operator_session_expired, record_and_return_previous_session_use


class SessionUseMiddleware:
    """Middleware that records when a sign-in session is used, and ends an operator's expired session.

    Requests without a session cookie are passed on.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.SESSION_COOKIE_NAME in request.COOKIES and request.user.is_authenticated:
            last_used_at = record_and_return_previous_session_use(request, request.user)
            if request.user.is_staff and has_operator_session_expired(request, last_used_at):
                logout(request)
                messages.info(
                    request,
                    _(
                        "You were signed out: an operator's session ends after %(hours)s hours, "
                        "and after %(minutes)s minutes without use."
                    )
                    % {"hours": settings.OPERATOR_SESSION_HOURS, "minutes": settings.OPERATOR_IDLE_MINUTES},
                )
        return self.get_response(request)
