"""OAuth 2.0 of the Pinterest stand-in: consent, codes, tokens and their revocation, for one app.

Written from github.com/pinterest/api-description 5.23 (oauth/token, continuous refresh); a grant that is none is answered
with 283, as clients report.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

from tests.fakes.http_server import Answer, ReceivedRequest

CLIENT_ID, CLIENT_SECRET = "1480577", "secret-of-the-app"
CODE_LIVES, ACCESS_LIVES, REFRESH_LIVES = timedelta(minutes=10), timedelta(days=30), timedelta(days=60)
KNOWN_SCOPES = frozenset({"boards:read", "boards:write", "pins:read", "pins:write", "user_accounts:read", "pins:read_secret"})


class Refused(Exception):
    """An error response of Pinterest: `{"code", "message"}` with an HTTP status."""

    def __init__(self, status: int, code: int, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message

    def answer(self) -> Answer:
        """The HTTP response of Pinterest's error."""
        return Answer.of_json({"code": self.code, "message": self.message, "status": "failure"}, self.status)


@dataclass(frozen=True)
class Access:
    """The account and scopes that a code or token of Pinterest gives access to."""

    username: str
    scopes: tuple[str, ...]
    ends: datetime
    redirect_uri: str = ""


class PinterestOAuth:
    """Pinterest's consent page and token endpoints. `site` is the address of the consent page."""

    def __init__(self, site: str) -> None:
        self._site = site
        self.redirect_uris: set[str] = set()
        self._codes: dict[str, Access] = {}
        self.access: dict[str, Access] = {}
        self.refresh: dict[str, Access] = {}

    def grant(self, url: str, username: str, scopes: Iterable[str] | None) -> str:
        """Grant the scopes that Pinterest's consent page requests, or fewer; return the code. Raises ValueError."""
        parts, asked = urlsplit(url), dict(parse_qsl(urlsplit(url).query, strict_parsing=True))
        wanted = asked.get("scope", "").split(",")
        wrong = {
            "address": f"{parts.scheme}://{parts.netloc}{parts.path}" != f"{self._site}/oauth/",
            "response_type": asked.get("response_type") != "code",
            "client_id": asked.get("client_id") != CLIENT_ID,
            "redirect_uri": asked.get("redirect_uri") not in self.redirect_uris,
            "scope": not KNOWN_SCOPES.issuperset(wanted),
            "state": not asked.get("state"),
        }
        if named := [name for name, is_wrong in wrong.items() if is_wrong]:
            raise ValueError(f"Pinterest shows an error instead of the consent: {', '.join(named)}")
        code = secrets.token_hex(20)
        granted = tuple(scopes) if scopes is not None else tuple(wanted)
        self._codes[code] = Access(username, granted, datetime.now(UTC) + CODE_LIVES, asked["redirect_uri"])
        return code

    def withdraw(self, username: str) -> None:
        """Revoke the app's access to the Pinterest account."""
        for tokens in (self.access, self.refresh):
            for token in [token for token, access in tokens.items() if access.username == username]:
                del tokens[token]

    def token(self, request: ReceivedRequest) -> dict[str, Any]:
        """Exchange a code or a refresh token of Pinterest, each of which is valid once."""
        form = _form(request)
        if form.get("grant_type") == "authorization_code":
            access = self._codes.pop(form.get("code", ""), None)
            if form.get("continuous_refresh") != "true" or (access and access.redirect_uri != form.get("redirect_uri")):
                raise Refused(400, 1, "Invalid request.")
        else:
            access = self.refresh.pop(form.get("refresh_token", ""), None)
        now = datetime.now(UTC)
        if access is None or now >= access.ends:
            raise Refused(401, 283, "The authorization grant is invalid.")
        token, refresh = f"pina_{secrets.token_hex(20)}", f"pinr_{secrets.token_hex(20)}"
        self.access[token] = Access(access.username, access.scopes, now + ACCESS_LIVES)
        self.refresh[refresh] = Access(access.username, access.scopes, now + REFRESH_LIVES)
        lives = {
            "expires_in": int(ACCESS_LIVES.total_seconds()),
            "refresh_token_expires_in": int(REFRESH_LIVES.total_seconds()),
        }
        grant = {"token_type": "bearer", "response_type": form["grant_type"], "scope": " ".join(access.scopes)}
        return {"access_token": token, "refresh_token": refresh, **grant, **lives}

    def revoke(self, request: ReceivedRequest) -> None:
        """Revoke an access or refresh token of Pinterest."""
        token = _form(request).get("token", "")
        if token not in self.access and token not in self.refresh:
            raise Refused(400, 1, "Invalid token.")
        self.access.pop(token, None)
        self.refresh.pop(token, None)

    def opened_by(self, request: ReceivedRequest, scope: str) -> Access:
        """The access of a request's bearer token at Pinterest. Raises Refused."""
        access = self.access.get(request.headers.get("authorization", "").removeprefix("Bearer "))
        if access is None or datetime.now(UTC) >= access.ends:
            raise Refused(401, 2, "Authentication failed.")
        if scope not in access.scopes:
            raise Refused(401, 3, "Authorization failed.")
        return access


def _form(request: ReceivedRequest) -> dict[str, str]:
    """The form of a request to Pinterest's token endpoint from the authenticated app."""
    basic = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
    if request.headers.get("authorization") != f"Basic {basic}":
        raise Refused(401, 2, "Authentication failed.")
    if request.headers.get("content-type") != "application/x-www-form-urlencoded":
        raise Refused(415, 1, "The content type has to be a form's.")
    return {name: values[-1] for name, values in parse_qs(request.body.decode(), keep_blank_values=True).items()}
