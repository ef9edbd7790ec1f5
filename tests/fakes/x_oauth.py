"""OAuth 2.0 of the X stand-in: consent, codes, tokens and their revocation, for one confidential client.

Written from docs.x.com, OAuth 2.0 Authorization Code Flow with PKCE; the words of errors are those that clients report.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, parse_qsl, urlsplit

from tests.fakes.http_server import Answer, ReceivedRequest

CLIENT_ID, CLIENT_SECRET = "Y2xpZW50LWlkOjE6Y2k", "secret-of-the-client"
CODE_LIVES = timedelta(seconds=30)
ACCESS_LIVES = timedelta(hours=2)
KNOWN_SCOPES = frozenset({"tweet.read", "tweet.write", "users.read", "media.write", "offline.access", "like.read"})


@dataclass(frozen=True)
class Code:
    """A consent at X: valid for one exchange with its PKCE verifier."""

    person_id: str
    scopes: tuple[str, ...]
    redirect_uri: str
    challenge: str
    ends: datetime


@dataclass(frozen=True)
class Access:
    """The account and scopes that a token of X gives access to."""

    person_id: str
    scopes: tuple[str, ...]
    ends: datetime | None = None


class OAuthRefusal(Exception):
    """An OAuth error response of X: `{"error", "error_description"}` with an HTTP status."""

    def __init__(self, status: int, error: str, description: str) -> None:
        super().__init__(description)
        self.status, self.error, self.description = status, error, description

    def answer(self) -> Answer:
        """The HTTP response of X's OAuth error."""
        return Answer.of_json({"error": self.error, "error_description": self.description}, self.status)


class XOAuth:
    """X's consent page and token endpoints. `site` is the address of the consent page."""

    def __init__(self, site: str) -> None:
        self._site = site
        self.redirect_uris: set[str] = set()
        self.codes: dict[str, Code] = {}
        self.access: dict[str, Access] = {}
        self.refresh: dict[str, Access] = {}

    def grant(self, url: str, person_id: str, scopes: Iterable[str] | None) -> str:
        """Grant the scopes that the URL of X's consent page requests, or fewer; return the code. Raises ValueError."""
        parts, asked = urlsplit(url), dict(parse_qsl(urlsplit(url).query, strict_parsing=True))
        wanted = asked.get("scope", "").split(" ")
        wrong = {
            "address": f"{parts.scheme}://{parts.netloc}{parts.path}" != f"{self._site}/i/oauth2/authorize",
            "response_type": asked.get("response_type") != "code",
            "client_id": asked.get("client_id") != CLIENT_ID,
            "redirect_uri": asked.get("redirect_uri") not in self.redirect_uris,
            "scope": not wanted or not KNOWN_SCOPES.issuperset(wanted),
            "state": not 1 <= len(asked.get("state", "")) <= 500,
            "code_challenge": len(asked.get("code_challenge", "")) != 43,
            "code_challenge_method": asked.get("code_challenge_method") != "S256",
        }
        if named := [name for name, is_wrong in wrong.items() if is_wrong]:
            raise ValueError(f"X shows an error instead of the consent: {', '.join(named)}")
        code = secrets.token_urlsafe(40)
        granted = tuple(scopes) if scopes is not None else tuple(wanted)
        ends = datetime.now(UTC) + CODE_LIVES
        self.codes[code] = Code(person_id, granted, asked["redirect_uri"], asked["code_challenge"], ends)
        return code

    def token(self, request: ReceivedRequest) -> Answer:
        """Exchange a code or a refresh token of X, each of which is valid once."""
        form = _form(request)
        if form.get("grant_type") == "authorization_code":
            return self._issue(self._of_code(form))
        if form.get("grant_type") == "refresh_token":
            access = self.refresh.pop(form.get("refresh_token", ""), None)
            if access is None:
                raise OAuthRefusal(400, "invalid_request", "Value passed for the token was invalid.")
            return self._issue(access)
        raise OAuthRefusal(400, "unsupported_grant_type", "Value passed for the grant_type was invalid.")

    def revoke(self, request: ReceivedRequest) -> Answer:
        """Revoke an access or refresh token of X."""
        token = _form(request).get("token", "")
        if token not in self.access and token not in self.refresh:
            raise OAuthRefusal(400, "invalid_request", "Value passed for the token was invalid.")
        self.access.pop(token, None)
        self.refresh.pop(token, None)
        return Answer.of_json({"revoked": True})

    def opened_by(self, request: ReceivedRequest) -> Access | None:
        """The access of a request's bearer token at X; None for an invalid or expired token."""
        access = self.access.get(request.headers.get("authorization", "").removeprefix("Bearer "))
        return access if access and access.ends and datetime.now(UTC) < access.ends else None

    def _of_code(self, form: dict[str, str]) -> Access:
        code = self.codes.pop(form.get("code", ""), None)
        if code is None or datetime.now(UTC) >= code.ends or form.get("redirect_uri") != code.redirect_uri:
            raise OAuthRefusal(400, "invalid_request", "Value passed for the authorization code was invalid.")
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if base64.urlsafe_b64encode(digest).decode().rstrip("=") != code.challenge:
            raise OAuthRefusal(400, "invalid_request", "Value passed for the code verifier did not match the code challenge.")
        return Access(code.person_id, code.scopes)

    def _issue(self, access: Access) -> Answer:
        token = secrets.token_urlsafe(40)
        self.access[token] = Access(access.person_id, access.scopes, datetime.now(UTC) + ACCESS_LIVES)
        body = {"token_type": "bearer", "expires_in": 7200, "access_token": token, "scope": " ".join(access.scopes)}
        if "offline.access" in access.scopes:
            body["refresh_token"] = secrets.token_urlsafe(40)
            self.refresh[str(body["refresh_token"])] = access
        return Answer.of_json(body)


def _form(request: ReceivedRequest) -> dict[str, str]:
    """The form of a request to X's token endpoint from an authenticated client."""
    basic = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
    if request.headers.get("authorization") != f"Basic {basic}":
        raise OAuthRefusal(401, "unauthorized_client", "Missing valid authorization header")
    if request.headers.get("content-type") != "application/x-www-form-urlencoded":
        raise OAuthRefusal(400, "invalid_request", "The content type has to be a form's.")
    return {name: values[-1] for name, values in parse_qs(request.body.decode(), keep_blank_values=True).items()}
