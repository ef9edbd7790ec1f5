"""Sign-in by OpenID Connect with PKCE, as a backend of the social-auth library. Requests go through config/outbound.

social-auth handles state, nonce and PKCE verifier; discovery and keys come from workspaces/sign_in/provider.py. The
provider's tokens are not stored.
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
from workspaces.sign_in.oidc_claims import auth_time_from_claims
from workspaces.sign_in.provider import LEEWAY_SECONDS, SIGNING_ALGORITHMS, ProviderUnavailable, configured_provider

EXCHANGE_SECONDS = 10.0


class OpenIdBackend(OpenIdConnectAuth[HttpResponse]):
    """The backend of the social-auth library that signs users in at the configured OpenID provider.

    Its methods raise social-auth's exceptions, such as AuthProviderError if the provider does not answer. `complete` also
    creates or updates the user, and raises the errors of `create_or_update_user` (workspaces/dashboard/sign_in.py).
    """

    name = "oidc"
    DEFAULT_USE_PKCE = True
    JWT_ALGORITHMS = list(SIGNING_ALGORITHMS)
    JWT_LEEWAY = float(LEEWAY_SECONDS)
    userinfo: Mapping[str, Any] = MappingProxyType({})  # the response of the userinfo endpoint

    def start_reauthentication(self) -> HttpResponse:
        """Make the social-auth backend start a sign-in in which the provider asks for password and second factor again."""
        self.PROMPT, self.MAX_AGE = "login", 0
        return self.start()

    @property
    def authenticated_at(self) -> datetime | None:
        """Return when the user last entered credentials, by the ID token in this social-auth backend; None if unknown."""
        return auth_time_from_claims(self.id_token or {})

    def get_key_and_secret(self) -> tuple[str, str]:
        return settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET

    def get_scope(self) -> list[str]:
        return list(settings.OIDC_SCOPES)

    def oidc_config(self) -> dict[str, Any]:
        try:
            return configured_provider().discovery_document
        except ProviderUnavailable as error:
            raise AuthProviderError(self, str(error), code="unavailable") from error

    def find_valid_key(self, id_token: str) -> dict[str, Any] | None:
        """Method of the social-auth backend: return the identity provider's key that verifies an ID token."""
        try:
            return configured_provider().verification_key_of_token_or_none(id_token)
        except ProviderUnavailable as error:
            raise AuthProviderError(self, str(error), code="unavailable", stage="token_validation") from error

    def validate_temporal_claims(self, id_token: dict[str, Any]) -> None:
        """Method of the social-auth backend: check the times in an ID token, except `nbf`, which is checked elsewhere."""
        super().validate_temporal_claims({name: value for name, value in id_token.items() if name != "nbf"})

    def user_data(self, access_token: str, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Method of the social-auth backend: fetch the userinfo, which must be about the subject of the ID token.

        The provider need not offer userinfo.
        """
        if "userinfo_endpoint" not in self.oidc_config():
            return {}
        data = super().user_data(access_token, *args, **kwargs)
        if not isinstance(data, dict) or not data.get("sub"):
            raise AuthResponseError(self, code="missing_claim", claim="sub", stage="user_info")
        self.userinfo = data
        return data

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
        """Method of the social-auth backend: send a request to the identity provider, without following redirects."""
        named = {name: value.decode() if isinstance(value, bytes) else value for name, value in (headers or {}).items()}
        if auth:
            named["Authorization"] = self.get_key_and_secret_basic_auth().decode()
        try:
            received = outbound.request(method, url, headers=named, data=data, timeout=EXCHANGE_SECONDS)
        except outbound.OutboundError as error:
            raise AuthProviderError(self, str(error), code="connection_failed", stage=stage) from error
        answer = requests.Response()
        answer.status_code, answer.raw = received.status, io.BytesIO(received.body)
        answer.headers.update(received.headers)
        if received.status != HTTPStatus.OK:
            raise http_error(self, requests.HTTPError(response=answer), stage=stage)
        return answer
