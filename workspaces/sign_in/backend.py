"""The way through a browser: social-auth's OpenID Connect, with PKCE, speaking to the provider through config/outbound.

state, nonce and PKCE verifier are social-auth's; discovery and keys are those of workspaces/sign_in/provider.py. Nothing of
the provider's tokens is kept.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Literal

import requests
from django.conf import settings
from django.http import HttpResponse
from social_core.backends.open_id_connect import OpenIdConnectAuth
from social_core.exceptions import AuthProviderError, AuthResponseError, ErrorStage
from social_core.utils import http_error

from config import outbound
from workspaces.sign_in.claims import auth_time_in
from workspaces.sign_in.kept import ProviderAway
from workspaces.sign_in.provider import ALGORITHMS, LEEWAY_SECONDS, provider

EXCHANGE_SECONDS = 10.0


class OpenIdBackend(OpenIdConnectAuth[HttpResponse]):
    """One configured provider. Raises social-auth's exceptions, AuthProviderError while the provider is away."""

    name = "oidc"
    DEFAULT_USE_PKCE = True
    JWT_ALGORITHMS = list(ALGORITHMS)
    JWT_LEEWAY = float(LEEWAY_SECONDS)
    userinfo: Mapping[str, Any] = MappingProxyType({})  # what was told beside the token

    def start_again(self) -> HttpResponse:
        """As `start`, for somebody whom the provider has to ask for their factors even if it knows them."""
        self.PROMPT, self.MAX_AGE = "login", 0
        return self.start()

    @property
    def authenticated_at(self) -> datetime | None:
        """When the provider asked the person for their factors (`auth_time`); None where it does not say."""
        return auth_time_in(self.id_token or {})

    def get_key_and_secret(self) -> tuple[str, str]:
        return settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET

    def get_scope(self) -> list[str]:
        return list(settings.OIDC_SCOPES)

    def oidc_config(self) -> dict[str, Any]:
        try:
            return provider().document
        except ProviderAway as error:
            raise AuthProviderError(self, str(error), code="unavailable") from error

    def find_valid_key(self, id_token: str) -> dict[str, Any] | None:
        """The key by which the caller verifies the token."""
        try:
            return provider().key_of(id_token)
        except ProviderAway as error:
            raise AuthProviderError(self, str(error), code="unavailable", stage="token_validation") from error

    def validate_temporal_claims(self, id_token: dict[str, Any]) -> None:
        """`nbf` was checked with leeway when the token was read; here it would be checked to the second."""
        super().validate_temporal_claims({name: value for name, value in id_token.items() if name != "nbf"})

    def user_data(self, access_token: str, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """What the userinfo endpoint tells, which a provider need not have; it must be of the same person."""
        if "userinfo_endpoint" not in self.oidc_config():
            return {}
        told = super().user_data(access_token, *args, **kwargs)
        if not isinstance(told, dict) or not told.get("sub"):
            raise AuthResponseError(self, code="missing_claim", claim="sub", stage="user_info")
        self.userinfo = told
        return told

    def request(
        self,
        url: str,
        *,
        method: Literal["GET", "POST", "DELETE"] = "GET",
        headers: Mapping[str, str | bytes] | None = None,
        data: dict[str, Any] | None = None,
        auth: Any = None,
        stage: ErrorStage = "user_info",
        **unused: Any,
    ) -> requests.Response:
        """One request to the provider, past requests' own network: checked address, one deadline, no redirects."""
        named = {name: value.decode() if isinstance(value, bytes) else value for name, value in (headers or {}).items()}
        if auth:
            named["Authorization"] = self.get_key_and_secret_basic_auth().decode()
        try:
            told = outbound.request(method, url, headers=named, data=data, timeout=EXCHANGE_SECONDS)
        except outbound.OutboundError as error:
            raise AuthProviderError(self, str(error), code="connection_failed", stage=stage) from error
        answer = requests.Response()
        answer.status_code, answer.raw = told.status, io.BytesIO(told.body)
        answer.headers.update(told.headers)
        if told.status != HTTPStatus.OK:
            raise http_error(self, requests.HTTPError(response=answer), stage=stage)
        return answer
