"""OAuth 2.0 over HTTP as the platforms implement it: the authorization code flow, PKCE, renewal and revocation of tokens.

Grants store `tokens` = {access_token, refresh_token?, …}. Sources: RFC 6749 (4.1, 5.2, 6), RFC 7009, RFC 7636 (S256).
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, ClassVar
from urllib.parse import urlencode, urlsplit

from django.utils import timezone
from django.utils.translation import gettext_noop

from accounts.platforms.errors import ConnectionUnavailable, CredentialsRejected, RateLimited, ReauthRequired, Transient
from accounts.platforms.http.responses import json_object_or_none, one_line, wait_seconds_from_headers
from accounts.platforms.types import OAuthAuthorizationRequest
from config.outbound import OutboundError, Response, request

TIMEOUT_SECONDS = 20.0
MAX_RESPONSE_BYTES = 262_144
# The error by which a token endpoint says that a grant has ended permanently (RFC 6749, 5.2).
GRANT_ENDED_CODES = frozenset({"invalid_grant"})
WRONG_APPLICATION_CODES = frozenset({"invalid_client", "unauthorized_client", "unsupported_grant_type"})
_PASSING = frozenset({"temporarily_unavailable", "server_error"})


@dataclass(frozen=True)
class PlatformOAuthClient:
    """The client of a platform's OAuth endpoints over HTTP, with the id and secret of the operator's application there.

    Subclasses say in class variables how their platform differs from RFC 6749.
    """

    client_id: str
    client_secret: str = field(repr=False)
    authorize_url: str  # the URL at which an owner grants access
    token_url: str
    scopes: tuple[str, ...]
    revoke_url: str = ""
    pkce: str = ""  # the challenge method, S256; empty for no PKCE

    label: ClassVar[str]  # the platform's name for people
    scope_separator: ClassVar[str] = " "
    authorize_params: ClassVar[Mapping[str, str]] = {}  # parameters beyond those of RFC 6749
    basic: ClassVar[bool] = False  # the client authenticates with an Authorization header, not in the request body
    exchange_params: ClassVar[Mapping[str, str]] = {}
    client_id_parameter: ClassVar[str] = "client_id"
    grant_ended_codes: ClassVar[frozenset[str]] = GRANT_ENDED_CODES
    # Statuses after which a token is revoked. With 400 the platform does not have the token, so it was revoked before.
    revoked_statuses: ClassVar[frozenset[int]] = frozenset({200, 400})
    authenticates_revocation: ClassVar[bool] = True

    @property
    def required_scopes(self) -> tuple[str, ...]:
        """Return the OAuth 2.0 scopes that a token response must contain: by default, all scopes that are requested."""
        return self.scopes

    def authorization_request(self, state: str, redirect_uri: str) -> OAuthAuthorizationRequest:
        """Return the OAuth 2.0 authorization URL, and the PKCE verifier to store for the exchange of the code."""
        params = {
            "response_type": "code",
            self.client_id_parameter: self.client_id,
            "redirect_uri": redirect_uri,
            "scope": self.scope_separator.join(self.scopes),
            "state": state,
            **self.authorize_params,
        }
        stored: dict[str, str] = {}
        if self.pkce:
            stored["verifier"] = secrets.token_urlsafe(32)
            params |= {"code_challenge": self.pkce_challenge(stored["verifier"]), "code_challenge_method": "S256"}
        separator = "&" if urlsplit(self.authorize_url).query else "?"
        return OAuthAuthorizationRequest(f"{self.authorize_url}{separator}{urlencode(params)}", stored)

    def exchange_code(self, code: str, redirect_uri: str, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Exchange an OAuth authorization code for tokens. Returns the JSON response of the platform's token endpoint.

        Raises CredentialsRejected (the code, or a scope that was not granted), ConnectionUnavailable, Transient.
        """
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri, **self.exchange_params}
        if self.pkce and "verifier" in stored:  # not if PKCE was switched on while the owner was granting access
            form["code_verifier"] = stored["verifier"]
        answer = self.request_tokens(form)
        self.check_granted_scopes(granted_scopes(answer), has_refresh_token=bool(answer.get("refresh_token")))
        return answer

    def renew_tokens(self, refresh_token: str) -> dict[str, Any]:
        """Exchange a refresh token for new tokens at the platform's OAuth endpoint. Returns the JSON response.

        Raises ReauthRequired only if the platform says that the grant has ended, otherwise Transient.
        """
        response = self.post_form(self.token_url, {"grant_type": "refresh_token", "refresh_token": refresh_token})
        answer = json_object_or_none(response) or {}
        if response.status == 200 and answer.get("access_token"):
            return answer
        error = self.oauth_error_code(response)
        if error in self.grant_ended_codes:
            raise ReauthRequired(f"{self.label} says that the access to this account has ended.")
        self._raise_if_passing(response, error)
        raise Transient(f"{self.label} did not renew the access: {response.status} {error}".rstrip())

    def revoke_token(self, token: str) -> None:
        """Revoke an OAuth token at the platform. Raises Transient.

        A token that the platform does not have counts as revoked.
        """
        response = self.post_form(self.revoke_url, {"token": token}, authenticate=self.authenticates_revocation)
        self._raise_if_passing(response, "")
        if response.status not in self.revoked_statuses:
            raise Transient(f"{self.label} did not revoke the access: it answered {response.status}.")

    def request_tokens(self, form: Mapping[str, str]) -> dict[str, Any]:
        """Request tokens for an authorization code at the platform's OAuth token endpoint.

        Raises CredentialsRejected (the code), ConnectionUnavailable, Transient.
        """
        response = self.post_form(self.token_url, form)
        answer = json_object_or_none(response) or {}
        if response.status == 200 and "access_token" in answer:
            return answer
        error = self.oauth_error_code(response)
        if error in WRONG_APPLICATION_CODES:
            raise ConnectionUnavailable(f"{self.label} does not accept this service's client id or secret.")
        self._raise_if_passing(response, error)
        if response.status == 200 and not error:
            raise Transient(f"{self.label} answered success without an access token.")
        raise wrong_code_error(self.label)

    def check_granted_scopes(self, granted: tuple[str, ...], *, has_refresh_token: bool = True) -> None:
        """Check an OAuth 2.0 token response: raise CredentialsRejected without a required scope or the refresh token."""
        missing = [scope for scope in self.required_scopes if scope not in granted]
        if not has_refresh_token:
            missing = missing or [gettext_noop("a refresh token")]
        if missing:
            raise missing_scopes_error(self.label, missing)

    def oauth_error_code(self, response: Response) -> str:
        """Return the OAuth error code (such as invalid_grant) in a platform's HTTP response, otherwise an empty string."""
        return one_line((json_object_or_none(response) or {}).get("error"))[:100]

    def pkce_challenge(self, verifier: str) -> str:
        """Return the S256 code challenge of an OAuth PKCE verifier (RFC 7636)."""
        return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()

    def post_form(self, url: str, form: Mapping[str, str], *, authenticate: bool = True) -> Response:
        """Send a form with the OAuth client's id and secret to an OAuth endpoint over HTTP; returns error responses, too.

        Raises Transient without a response.
        """
        headers, data = {"Accept": "application/json"}, dict(form)
        if authenticate and self.basic:
            headers |= basic_auth_header(self.client_id, self.client_secret)
        elif authenticate:
            data |= {self.client_id_parameter: self.client_id, "client_secret": self.client_secret}
        try:
            return request("POST", url, data=data, headers=headers, timeout=TIMEOUT_SECONDS, max_bytes=MAX_RESPONSE_BYTES)
        except OutboundError as error:
            raise Transient(f"{self.label} could not be reached.") from error

    def _raise_if_passing(self, response: Response, error: str) -> None:
        wait = wait_seconds_from_headers(response)
        if response.status == 429:
            raise RateLimited(f"{self.label}'s rate limit is reached.", retry_after=wait)
        if response.status >= 500 or error in _PASSING:
            raise Transient(f"{self.label} answered {response.status}.", retry_after=wait)


def wrong_code_error(label: str) -> CredentialsRejected:
    """Return the error for an OAuth authorization code that a platform does not accept."""
    return CredentialsRejected(
        f"{label} does not accept this code: it is used, expired or was issued to another service.",
        suggested_action=gettext_noop("Start the connection again."),
    )


def missing_scopes_error(label: str, missing: list[str]) -> CredentialsRejected:
    """Return the error for an OAuth authorization in which the owner did not grant all necessary scopes."""
    names = sorted(scope.rpartition("/")[2] for scope in missing)  # Google's scopes are URLs
    return CredentialsRejected(
        f"The grant lacks what the service needs at {label}: {', '.join(names)}.",
        suggested_action=f"Start the connection again and grant everything that {label} asks for.",
    )


def basic_auth_header(client_id: str, client_secret: str) -> dict[str, str]:
    """Return the HTTP Authorization header that contains an OAuth client's id and secret (RFC 6749, 2.3.1)."""
    return {"Authorization": "Basic " + base64.b64encode(f"{client_id}:{client_secret}".encode()).decode()}


def merged_tokens(before: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return stored OAuth tokens, updated with an HTTP token response, which may lack a new refresh token."""
    tokens = {**before, "access_token": str(answer["access_token"])}
    if refresh := answer.get("refresh_token"):
        tokens["refresh_token"] = str(refresh)
    return tokens


def token_expiry(answer: Mapping[str, Any]) -> datetime | None:
    """Return when the access token in a platform's token response expires; None if the response does not say."""
    seconds = answer.get("expires_in")
    if isinstance(seconds, str) and seconds.isascii() and seconds.isdecimal():
        seconds = int(seconds[:12])
    return timezone.now() + timedelta(seconds=min(seconds, 10**9)) if isinstance(seconds, int) and seconds > 0 else None


def granted_scopes(answer: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the granted scopes in the token response of a platform, where spaces or commas separate them."""
    granted = answer.get("scope")
    return tuple(granted.replace(",", " ").split()) if isinstance(granted, str) else ()
