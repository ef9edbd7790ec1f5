"""Google's OAuth 2.0 in YouTube's stand-in: consent, codes, tokens and their ends, for one client.

Written from developers.google.com/identity/protocols/oauth2/web-server: the parameters, what a refresh token requires,
granular and incremental consent, revocation.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

from tests.fakes.http_server import Answer, ReceivedRequest

CLIENT_ID, CLIENT_SECRET = "42-abc.apps.googleusercontent.com", "GOCSPX-of-the-client"
ALL_SCOPES = frozenset(
    f"https://www.googleapis.com/auth/{name}" for name in ("youtube", "youtube.upload", "youtube.readonly")
)
ACCESS_LIVES = timedelta(seconds=3599)


@dataclass(frozen=True)
class Code:
    """A consent, which can be exchanged once."""

    person: str
    scopes: frozenset[str]
    redirect_uri: str
    challenge: str
    offline: bool


@dataclass(frozen=True)
class Access:
    """The access of an access token."""

    person: str
    scopes: frozenset[str]
    ends: datetime


class GoogleOAuth:
    """The consent page and the token endpoints. `site` is the address of the consent page."""

    def __init__(self, site: str) -> None:
        self._site = site
        self.redirect_uris: set[str] = set()
        self.codes: dict[str, Code] = {}
        self.access: dict[str, Access] = {}
        self.refresh: dict[str, tuple[str, frozenset[str]]] = {}  # person and scopes by token
        self._granted: dict[str, frozenset[str]] = {}

    def grant(self, url: str, person: str, scopes: Iterable[str] | None) -> str:
        """Consent as the person, to all requested scopes or to these; returns the code. Raises ValueError."""
        parts, asked = urlsplit(url), dict(parse_qsl(urlsplit(url).query, strict_parsing=True))
        wanted = frozenset(asked.get("scope", "").split(" "))
        wrong = {
            "address": f"{parts.scheme}://{parts.netloc}{parts.path}" != f"{self._site}/o/oauth2/v2/auth",
            "response_type": asked.get("response_type") != "code",
            "client_id": asked.get("client_id") != CLIENT_ID,
            "redirect_uri": asked.get("redirect_uri") not in self.redirect_uris,
            "scope": not ALL_SCOPES.issuperset(wanted),
            "state": not asked.get("state"),
            "code_challenge": len(asked.get("code_challenge", "")) != 43 or asked["code_challenge_method"] != "S256",
            "access_type": asked.get("access_type", "online") not in ("online", "offline"),
        }
        if any(wrong.values()):
            raise ValueError(f"Google shows an error: {sorted(name for name, is_wrong in wrong.items() if is_wrong)}")
        ticked = wanted if scopes is None else frozenset(scopes)
        before = self._granted.get(person, frozenset())
        given = ticked | before if asked.get("include_granted_scopes") == "true" else ticked
        offline = asked.get("access_type") == "offline" and (not before or asked.get("prompt") == "consent")
        self._granted[person] = ticked | before
        code = f"4/0A{secrets.token_urlsafe(24)}"
        self.codes[code] = Code(person, given, asked["redirect_uri"], asked["code_challenge"], offline)
        return code

    def token(self, request: ReceivedRequest) -> Answer:
        """Exchange a code, which is valid once, or a refresh token, which stays valid."""
        form = {name: values[-1] for name, values in parse_qs(request.body.decode()).items()}
        if (form.get("client_id"), form.get("client_secret")) != (CLIENT_ID, CLIENT_SECRET):
            return _error(401, "invalid_client", "The OAuth client was not found.")
        if form.get("grant_type") == "refresh_token":
            if form.get("refresh_token", "") not in self.refresh:
                return _error(400, "invalid_grant", "Token has been expired or revoked.")
            person, scopes = self.refresh[form["refresh_token"]]
            return Answer.of_json(self._issue(person, scopes))
        if form.get("grant_type") != "authorization_code":
            return _error(400, "unsupported_grant_type", "Invalid grant_type.")
        code = self.codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if code is None or code.redirect_uri != form.get("redirect_uri") or code.challenge != challenge:
            return _error(400, "invalid_grant", "Bad Request")
        answer = self._issue(code.person, code.scopes)
        if code.offline:
            answer["refresh_token"] = f"1//{secrets.token_urlsafe(40)}"
            self.refresh[answer["refresh_token"]] = (code.person, code.scopes)
        return Answer.of_json(answer)

    def revoke(self, request: ReceivedRequest) -> Answer:
        """Revoke all grants of the person to whom this token belongs."""
        token = dict(parse_qsl(request.body.decode())).get("token", "")
        person = self.refresh[token][0] if token in self.refresh else None
        person = self.access[token].person if token in self.access else person
        if person is None:
            return _error(400, "invalid_token", "Token expired or revoked")
        self.withdraw(person)
        return Answer.of_json({})

    def withdraw(self, person: str) -> None:
        """Delete all grants of a person."""
        self._granted.pop(person, None)
        self.refresh = {token: grant for token, grant in self.refresh.items() if grant[0] != person}
        self.access = {token: access for token, access in self.access.items() if access.person != person}

    def access_of(self, request: ReceivedRequest) -> Access | None:
        """The access of this request's token; None for an invalid or expired token."""
        access = self.access.get(request.headers.get("authorization", "").removeprefix("Bearer "))
        return access if access and datetime.now(UTC) < access.ends else None

    def _issue(self, person: str, scopes: frozenset[str]) -> dict[str, Any]:
        token = f"ya29.{secrets.token_urlsafe(40)}"
        self.access[token] = Access(person, scopes, datetime.now(UTC) + ACCESS_LIVES)
        return {"access_token": token, "expires_in": 3599, "scope": " ".join(sorted(scopes)), "token_type": "Bearer"}


def _error(status: int, error: str, description: str) -> Answer:
    return Answer.of_json({"error": error, "error_description": description}, status)
