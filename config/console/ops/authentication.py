"""The operator's token: compared in constant time, good for /ops and /metrics and for nothing else."""

from __future__ import annotations

import hmac

from django.conf import settings
from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from config.api.caller import Caller, operator_caller
from config.api.errors import NotFound, Unauthenticated


class OperatorAuthentication(BaseAuthentication):
    """`request.user` becomes the operator as a Caller. Raises NotFound while no token is set, Unauthenticated."""

    def authenticate(self, request: Request) -> tuple[Caller, None]:
        require_admin_token(request._request)
        return operator_caller(request.META.get("REMOTE_ADDR") or None), None

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def require_admin_token(request: HttpRequest) -> None:
    """Let pass who bears ADMIN_TOKEN. Raises NotFound while none is set, else Unauthenticated."""
    if not settings.ADMIN_TOKEN:
        raise NotFound()
    scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    right = hmac.compare_digest(token.strip().encode(), settings.ADMIN_TOKEN.encode())
    if scheme.lower() != "bearer" or not right:
        raise Unauthenticated(
            "This needs the operator's token.", suggested_action="Send `Authorization: Bearer <ADMIN_TOKEN>`."
        )
