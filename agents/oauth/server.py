"""The OAuth server: oauthlib checks requests and makes answers, and asks the validator here about clients, codes and tokens.

Only the parameters that this server knows are given to oauthlib, because it mixes those of a request with its own values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from django.db import transaction
from django.utils import timezone
from oauthlib.common import Request, add_params_to_uri
from oauthlib.oauth2 import (
    AuthorizationCodeGrant,
    AuthorizationEndpoint,
    BearerToken,
    DeviceCodeGrant,
    InvalidClientError,
    InvalidClientIdError,
    InvalidRequestError,
    OAuth2Error,
    RefreshTokenGrant,
    RequestValidator,
    RevocationEndpoint,
    TokenEndpoint,
    UnauthorizedClientError,
    UnsupportedResponseTypeError,
)
from oauthlib.oauth2.rfc6749.errors import UnsupportedCodeChallengeMethodError

from agents.models import DeviceAuthorization, OAuthClient, OAuthGrant, OAuthToken
from agents.oauth.addresses import MCP_PATH, OAUTH_SCOPES, issuer, resource_url_of_path
from agents.oauth.client_metadata import AUTHORIZATION_CODE, DEVICE_CODE_GRANT_TYPE, REFRESH_TOKEN
from agents.oauth.clients import find_or_fetch_client_or_none, find_stored_client
from agents.oauth.device_authorizations import answer_device_poll
from agents.oauth.errors import InvalidTarget
from agents.oauth.grants import (
    IssuedTokens,
    RequestedAccess,
    issue_tokens,
    lock_grant_of_code,
    lock_token_to_refresh_or_none,
    revoke_token,
)
from agents.oauth.redirect_uris import is_registered_redirect_uri

S256 = "S256"
_CODE_CHALLENGE = re.compile(r"[0-9A-Za-z_-]{43}")  # a SHA-256 in base64url without padding (RFC 7636)
Parameters = Iterable[tuple[str, str]]
Answer = tuple[dict[str, str], str, int]  # headers, body, status
_AUTHORIZE_PARAMETERS = {
    *("client_id", "response_type", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method"),
    "resource",
}
_TOKEN_PARAMETERS = {
    *("client_id", "grant_type", "code", "redirect_uri", "code_verifier", "refresh_token", "device_code", "resource"),
}
_REVOKE_PARAMETERS = {"client_id", "token", "token_type_hint"}
_DEVICE_PARAMETERS = {"client_id", "scope", "resource"}
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class AgentGrantValidator(RequestValidator):
    """The request validator that oauthlib asks about clients, codes and tokens of this service's OAuth server.

    It stores what it finds on oauthlib's request: `request.grant` is the OAuthGrant, `request.exchanged` the row
    whose code or refresh token is exchanged, and `request.credential` that code or token. A new validator is made for each
    request; `asked_by` is as in `find_or_fetch_client_or_none`.
    """

    def __init__(self, asked_by: str = "") -> None:
        self.asked_by = asked_by

    def client_authentication_required(self, request: Request, *args: Any, **kwargs: Any) -> bool:
        return False

    def authenticate_client_id(self, client_id: str | None, request: Request, *args: Any, **kwargs: Any) -> bool:
        request.client = find_stored_client(client_id)
        return request.client is not None

    def validate_client_id(self, client_id: str, request: Request, *args: Any, **kwargs: Any) -> bool:
        request.client = find_or_fetch_client_or_none(client_id, asked_by=self.asked_by)
        return request.client is not None

    def validate_redirect_uri(self, client_id: str, redirect_uri: str, request: Request, *args: Any, **kwargs: Any) -> bool:
        return is_registered_redirect_uri(redirect_uri, request.client.redirect_uris)

    def get_default_redirect_uri(self, client_id: str, request: Request, *args: Any, **kwargs: Any) -> str | None:
        """Return the redirect URI for an OAuth request without one: its grant's URI, or else its client's only URI."""
        if exchanged := getattr(request, "grant", None):
            return str(exchanged.redirect_uri)
        registered = request.client.redirect_uris
        return registered[0] if len(registered) == 1 else None

    def is_pkce_required(self, client_id: str, request: Request) -> bool:
        return True

    def validate_response_type(self, client_id: str, response_type: str, client: OAuthClient, request: Request) -> bool:
        return AUTHORIZATION_CODE in client.grant_types

    def get_default_scopes(self, client_id: str, request: Request, *args: Any, **kwargs: Any) -> list[str]:
        return list(OAUTH_SCOPES)

    def validate_scopes(
        self, client_id: str, scopes: list[str], client: OAuthClient, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        """Reduce the scopes of an OAuth request to known scopes; if none is left, set all scopes that a client may have."""
        request.scopes = [scope for scope in OAUTH_SCOPES if scope in scopes] or list(OAUTH_SCOPES)
        return True

    def validate_grant_type(
        self, client_id: str, grant_type: str, client: OAuthClient, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        return grant_type in client.grant_types

    def validate_code(
        self, client_id: str, code: str, client: OAuthClient, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        grant = lock_grant_of_code(client=client, code=code)
        return _may_exchange(request, grant, grant, code)

    def get_code_challenge(self, code: str, request: Request) -> str:
        return str(request.grant.code_challenge)

    def get_code_challenge_method(self, code: str, request: Request) -> str:
        return S256

    def confirm_redirect_uri(
        self, client_id: str, code: str, redirect_uri: str, client: OAuthClient, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        return bool(redirect_uri == request.grant.redirect_uri)

    def validate_refresh_token(
        self, refresh_token: str, client: OAuthClient, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        token = lock_token_to_refresh_or_none(client=client, refresh_token=refresh_token)
        return _may_exchange(request, token.grant if token else None, token, refresh_token)

    def get_original_scopes(self, refresh_token: str, request: Request, *args: Any, **kwargs: Any) -> list[str]:
        return list(request.scopes)

    def validate_device_code(self, client_id: str, device_code: str, request: Request) -> str | None:
        status, grant = answer_device_poll(client=request.client, device_code=device_code)
        _may_exchange(request, grant, grant.device_authorization if grant else None, device_code)
        return status

    def save_bearer_token(self, token: dict[str, Any], request: Request, *args: Any, **kwargs: Any) -> None:
        """For oauthlib: mark a code or refresh token as used; `issue_tokens` has already stored the new tokens."""
        exchanged, now = request.exchanged, timezone.now()
        if isinstance(exchanged, OAuthToken):
            OAuthToken.objects.filter(pk=exchanged.pk, refreshed_at=None).update(refreshed_at=now)
        elif isinstance(exchanged, DeviceAuthorization):
            DeviceAuthorization.objects.filter(pk=exchanged.pk).update(used_at=now)
        else:
            OAuthGrant.objects.filter(pk=exchanged.pk).update(code_used_at=now)

    def invalidate_authorization_code(self, client_id: str, code: str, request: Request, *args: Any, **kwargs: Any) -> None:
        """Do nothing when oauthlib wants a code to be invalidated: `save_bearer_token` has marked it as used."""

    def revoke_token(self, token: str, token_type_hint: str | None, request: Request, *args: Any, **kwargs: Any) -> None:
        revoke_token(client=request.client, token=token)


def read_authorization_request(parameters: Parameters, *, asked_by: str) -> RequestedAccess:
    """Let the OAuth server read what a client asks for at /oauth/authorize.

    Raises FatalClientError if the client or its redirect URI is not valid, so that only the person may be told, and other
    OAuth2Errors to be sent to the client (`error_redirect_url`); InvalidClientMetadata and RateLimited as
    `find_or_fetch_client_or_none` does.
    """
    grant = AuthorizationCodeGrant(AgentGrantValidator(asked_by), pre_auth=[_check_authorization_request])
    endpoint = AuthorizationEndpoint("code", None, {"code": grant})
    query = urlencode(_known(parameters, _AUTHORIZE_PARAMETERS))
    scopes, found = endpoint.validate_authorization_request(f"{issuer()}/oauth/authorize?{query}")
    request = found["request"]
    return RequestedAccess(
        client=request.client,
        resource=request.resource or resource_url_of_path(MCP_PATH),
        scopes=scopes,
        redirect_uri=request.redirect_uri,
        code_challenge=request.code_challenge,
        state=request.state,
    )


def read_device_request(parameters: Parameters, *, asked_by: str) -> RequestedAccess:
    """Let the OAuth server read what a client asks for in the device flow; errors as in `read_authorization_request`."""
    body = urlencode(_known(parameters, _DEVICE_PARAMETERS))
    request = Request(f"{issuer()}/oauth/device", "POST", body, _FORM)
    try:
        DeviceCodeGrant(AgentGrantValidator(asked_by)).validate_device_authorization_request(request)
    except InvalidClientIdError as error:
        raise InvalidClientError(request=request) from error
    if DEVICE_CODE_GRANT_TYPE not in request.client.grant_types:
        raise UnauthorizedClientError(request=request)
    _check_resource(request, (resource_url_of_path(""), resource_url_of_path(MCP_PATH)))
    return RequestedAccess(request.client, request.resource or resource_url_of_path(MCP_PATH), request.scopes)


def answer_token_request(parameters: Parameters) -> Answer:
    """Let the OAuth server answer a token request: exchange a code or refresh token for tokens, and return the response."""
    validator = AgentGrantValidator()
    tokens_of_grant = BearerToken(validator, _access_token, _expires_in, _refresh_token)
    kinds = {
        AUTHORIZATION_CODE: AuthorizationCodeGrant,
        REFRESH_TOKEN: RefreshTokenGrant,
        DEVICE_CODE_GRANT_TYPE: DeviceCodeGrant,
    }
    grants = {name: kind(validator, post_token=[_check_resource_of_grant]) for name, kind in kinds.items()}
    endpoint = TokenEndpoint(AUTHORIZATION_CODE, tokens_of_grant, grants)
    body = urlencode(_known(parameters, _TOKEN_PARAMETERS))
    with transaction.atomic():  # oauthlib returns errors, so the end of a grant whose code was used twice is committed
        answer: Answer = endpoint.create_token_response(f"{issuer()}/oauth/token", "POST", body, _FORM)
    return answer


def answer_revocation_request(parameters: Parameters) -> Answer:
    """Let the OAuth server answer a revocation request: revoke the client's token, and return the response (RFC 7009)."""
    endpoint = RevocationEndpoint(AgentGrantValidator())
    body = urlencode(_known(parameters, _REVOKE_PARAMETERS))
    answer: Answer = endpoint.create_revocation_response(f"{issuer()}/oauth/revoke", "POST", body, _FORM)
    return answer


def success_redirect_url(requested: RequestedAccess, code: str) -> str:
    """Return the address to which the OAuth server sends a client's user back with the authorization code."""
    return _redirect(requested.redirect_uri, [("code", code)], requested.state)


def error_redirect_url(redirect_uri: str, error: OAuth2Error, state: str | None) -> str:
    """Return the address to which the OAuth server sends a client's user back with an error."""
    described = [("error_description", error.description)] if error.description else []
    return _redirect(redirect_uri, [("error", error.error), *described], state)


def _redirect(redirect_uri: str, parameters: list[tuple[str, str]], state: str | None) -> str:
    own = [("state", state)] if state else []
    return str(add_params_to_uri(redirect_uri, [*parameters, *own, ("iss", issuer())]))  # RFC 9207


def _known(parameters: Parameters, names: set[str]) -> list[tuple[str, str]]:
    """Return the known parameters of a request to the OAuth server; a parameter without a value counts as omitted."""
    known = [(name, value) for name, value in parameters if name in names and value]
    if any("\0" in value for _, value in known):  # which databases cannot compare
        raise InvalidRequestError("A parameter contains a NUL character.")
    return known


def _check_authorization_request(request: Request) -> dict[str, Any]:
    """Refuse authorization requests that oauthlib accepts: several response types, PKCE by `plain`, foreign resources."""
    if request.response_type not in (None, "code"):
        raise UnsupportedResponseTypeError(request=request)
    if request.code_challenge and request.code_challenge_method != S256:
        raise UnsupportedCodeChallengeMethodError(request=request)
    if request.code_challenge and not _CODE_CHALLENGE.fullmatch(request.code_challenge):
        raise InvalidRequestError("The code_challenge is not a SHA-256 in base64url.", request=request)
    _check_resource(request, (resource_url_of_path(""), resource_url_of_path(MCP_PATH)))
    return {}


def _check_resource_of_grant(request: Request) -> None:
    _check_resource(request, (request.grant.resource,))


def _check_resource(request: Request, allowed: tuple[str, ...]) -> None:
    if "resource" in request.duplicate_params or request.resource not in (None, *allowed):
        raise InvalidTarget(request=request)


def _may_exchange(request: Request, grant: OAuthGrant | None, exchanged: Any, credential: str) -> bool:
    """Store the OAuth grant, and the code or token to exchange, on oauthlib's request; returns False without a grant."""
    if grant is None:
        return False
    request.grant, request.exchanged, request.credential = grant, exchanged, credential
    request.scopes = list(grant.agent.scopes)
    request.user = grant.agent
    return True


def _issued(request: Request) -> IssuedTokens:
    if not hasattr(request, "issued"):
        request.issued = issue_tokens(grant=request.grant, credential=request.credential)
    issued: IssuedTokens = request.issued
    return issued


def _access_token(request: Request) -> str:
    return _issued(request).access_token


def _refresh_token(request: Request) -> str:
    return _issued(request).refresh_token


def _expires_in(request: Request) -> int:
    return _issued(request).expires_in
