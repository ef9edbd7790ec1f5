"""Authentication by the setting ADMIN_TOKEN, for the operators' API at /ops and for /metrics."""

from __future__ import annotations

import hmac

from django.conf import settings
from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from config.api.caller import Caller, operator_caller
from config.api.errors import NotFound, Unauthenticated


class OperatorAuthentication(BaseAuthentication):
    """The authentication class of /ops (Django REST framework): a request with ADMIN_TOKEN comes from an operator."""

    def authenticate(self, request: Request) -> tuple[Caller, None]:
        require_admin_token(request._request)
        return operator_caller(request.META.get("REMOTE_ADDR") or None), None

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def require_admin_token(request: HttpRequest) -> None:
    """Require ADMIN_TOKEN as the request's bearer token. Raises NotFound if the setting is empty, else Unauthenticated."""
    if not settings.ADMIN_TOKEN:
        raise NotFound()
    scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    right = hmac.compare_digest(token.strip().encode(), settings.ADMIN_TOKEN.encode())
    if scheme.lower() != "bearer" or not right:
        raise Unauthenticated(
            "This operation needs the operator's token.", suggested_action="Send `Authorization: Bearer <ADMIN_TOKEN>`."
        )
