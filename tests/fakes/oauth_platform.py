"""A stand-in of any platform with OAuth 2.0: an authorization server, and a method that lists the accounts of a token.

Strict as the RFCs ask: codes are good once, for their client, redirect URI and PKCE verifier (RFC 6749, 4.1.3; RFC 7636);
refresh tokens rotate, and each is good once (RFC 9700, 4.14.2).

    with FakeOAuthPlatform() as provider:
        provider.add_account("alice")
        code = provider.grant(authorization_url)
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.fakes.faults import FaultyServer
from tests.fakes.http_server import Answer, ReceivedRequest

CLIENT_ID, CLIENT_SECRET = "client-id", "client-secret"
EXCHANGE, RENEW, ACCOUNTS, REVOKE = "exchange", "renew", "accounts", "revoke"


@dataclass(frozen=True)
class Code:
    """A consent of the owner that is not exchanged yet."""

    redirect_uri: str
    challenge: str


class FakeOAuthPlatform(FaultyServer):
    """A platform with one OAuth client and one owner; a token gives access to all accounts of the owner."""

    calls = frozenset({EXCHANGE, RENEW, ACCOUNTS, REVOKE})

    def __init__(self) -> None:
        super().__init__()
        self._accounts: list[dict[str, str]] = []
        self._codes: dict[str, Code] = {}
        self._access: set[str] = set()
        self._refresh: set[str] = set()
        self._lifetime: int | None = 7200
        self._rotates = True

    # what a test arranges

    def add_account(self, name: str) -> None:
        with self._lock:
            self._accounts.append({"id": f"id-{name}", "username": name, "name": name.capitalize()})

    def issue_for(self, seconds: int | None) -> None:
        """Set the lifetime of later access tokens; None omits it from the response."""
        with self._lock:
            self._lifetime = seconds

    def keep_refresh_token(self) -> None:
        """Answer later renewals with an empty refresh token; the old one stays valid."""
        with self._lock:
            self._rotates = False

    def expire_access_tokens(self) -> None:
        with self._lock:
            self._access.clear()

    def end_refresh(self) -> None:
        """End all refresh tokens; access tokens stay valid until they expire."""
        with self._lock:
            self._refresh.clear()

    def grant(self, address: str) -> str:
        """Grant access as the owner; returns the authorization code. Raises ValueError if the page would show an error."""
        parts = urlsplit(address)
        asked = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        expected = {"response_type": "code", "client_id": CLIENT_ID, "code_challenge_method": "S256"}
        wrong = {name for name, value in expected.items() if asked.get(name) != value}
        if f"{parts.scheme}://{parts.netloc}" != self.url or parts.path != "/authorize" or wrong:
            raise ValueError(f"The authorization page does not take this: {sorted(wrong)}")
        code = secrets.token_urlsafe(16)
        with self._lock:
            self._codes[code] = Code(asked["redirect_uri"], asked["code_challenge"])
        return code

    # what a test reads

    @property
    def live_tokens(self) -> set[str]:
        """The valid access and refresh tokens."""
        with self._lock:
            return self._access | self._refresh

    # the service

    def call_of(self, request: ReceivedRequest) -> str:
        if request.path == "/token":
            return {"authorization_code": EXCHANGE, "refresh_token": RENEW}[_form(request)["grant_type"]]
        return request.path.removeprefix("/")

    def perform(self, request: ReceivedRequest) -> Answer:
        answers: dict[str, Callable[[ReceivedRequest], Answer]] = {
            EXCHANGE: self._exchange,
            RENEW: self._renew,
            ACCOUNTS: self._list_accounts,
            REVOKE: self._revoke,
        }
        return answers[self.call_of(request)](request)

    def _exchange(self, request: ReceivedRequest) -> Answer:
        form = _form(request)
        code = self._codes.pop(form["code"], None)
        if not _is_client(form):
            return _error(401, "invalid_client")
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if code is None or code != Code(form["redirect_uri"], challenge):
            return _error(400, "invalid_grant")
        return self._issue(with_refresh=True)

    def _renew(self, request: ReceivedRequest) -> Answer:
        form = _form(request)
        if not _is_client(form):
            return _error(401, "invalid_client")
        if form["refresh_token"] not in self._refresh:
            return _error(400, "invalid_grant")
        if self._rotates:
            self._refresh.discard(form["refresh_token"])
        return self._issue(with_refresh=self._rotates)

    def _list_accounts(self, request: ReceivedRequest) -> Answer:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token not in self._access:
            return _error(401, "invalid_token")
        return Answer.of_json({"accounts": self._accounts})

    def _revoke(self, request: ReceivedRequest) -> Answer:
        self._refresh.discard(_form(request)["token"])
        return Answer(200)

    def _issue(self, *, with_refresh: bool) -> Answer:
        made: dict[str, Any] = {"access_token": secrets.token_urlsafe(24), "token_type": "Bearer", "scope": "read write"}
        made["refresh_token"] = secrets.token_urlsafe(24) if with_refresh else ""
        if self._lifetime is not None:
            made["expires_in"] = self._lifetime
        self._access.add(made["access_token"])
        self._refresh |= {made["refresh_token"]} - {""}
        return Answer.of_json(made)


def _form(request: ReceivedRequest) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs(request.body.decode(), keep_blank_values=True).items()}


def _is_client(form: dict[str, str]) -> bool:
    return (form["client_id"], form["client_secret"]) == (CLIENT_ID, CLIENT_SECRET)


def _error(status: int, error: str) -> Answer:
    return Answer.of_json({"error": error}, status)
