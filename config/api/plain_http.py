"""Tokens that were sent over plain http."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from config.api.errors import Forbidden
from config.api.handler import respond


class PlainHttpTokenMiddleware:
    """In production, refuses what sends an Authorization header over plain http, in place of a redirect to https.

    A redirect would hide the mistake: the client goes on sending its token in the clear, and never learns of it.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.PRODUCTION and "HTTP_AUTHORIZATION" in request.META and not request.is_secure():
            return respond(
                Forbidden(
                    "This request came over plain http, so its token was sent in the clear.",
                    suggested_action="Use https, and replace the token: others may have read it.",
                )
            )
        return self.get_response(request)
