"""Middleware that refuses bearer tokens sent over plain http."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from config.api.error_handlers import error_response
from config.api.errors import Forbidden


class PlainHttpTokenMiddleware:
    """Refuses requests with an Authorization header over plain http in production, instead of redirecting to https.

    A redirect would hide the mistake: the client would continue to send its token unencrypted.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.PRODUCTION and "HTTP_AUTHORIZATION" in request.META and not request.is_secure():
            return error_response(
                Forbidden(
                    "This request came over plain http, so its token was sent unencrypted.",
                    suggested_action="Use https, and replace the token: others may have read it.",
                )
            )
        return self.get_response(request)
