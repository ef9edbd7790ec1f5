"""TikTok's OAuth 2.0 in the stand-in: consent, codes, tokens that rotate, and their ends, for one app.

Written from developers.tiktok.com: Login Kit for web and for desktop (whose challenge is hexadecimal), and the management
of user access tokens.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, parse_qsl, urlsplit

from tests.fakes.http_server import Answer, ReceivedRequest

CLIENT_KEY, CLIENT_SECRET = "awclientkey", "secret-of-the-app"
ALL_SCOPES = frozenset({"user.info.basic", "user.info.profile", "video.publish", "video.upload", "video.list"})
ACCESS_LIVES, REFRESH_LIVES = timedelta(hours=2), timedelta(days=180)


@dataclass(frozen=True)
class Code:
    """A consent, which can be exchanged once."""

    person: str
    scopes: frozenset[str]
    redirect_uri: str
    challenge: str | None


@dataclass(frozen=True)
class Access:
    """The access of a token."""

    person: str
    scopes: frozenset[str]
    ends: datetime


class TikTokOAuth:
    """The consent page and the token endpoints. `desktop`: the app has to use PKCE."""

    def __init__(self, site: str) -> None:
        self._site = site
        self.desktop = False
        self.redirect_uris: set[str] = set()
        self.codes: dict[str, Code] = {}
        self.access: dict[str, Access] = {}
        self.refresh: dict[str, Access] = {}

    def grant(self, url: str, person: str, scopes: Iterable[str] | None) -> str:
        """Consent as the person, to all requested scopes or to these; returns the code. Raises ValueError."""
        parts, asked = urlsplit(url), dict(parse_qsl(urlsplit(url).query, strict_parsing=True))
        wanted = frozenset(asked.get("scope", "").split(","))
        challenge = asked.get("code_challenge")
        wrong = {
            "address": f"{parts.scheme}://{parts.netloc}{parts.path}" != f"{self._site}/v2/auth/authorize/",
            "client_key": asked.get("client_key") != CLIENT_KEY,
            "response_type": asked.get("response_type") != "code",
            "redirect_uri": asked.get("redirect_uri") not in self.redirect_uris,
            "scope": not ALL_SCOPES.issuperset(wanted),
            "state": not asked.get("state"),
            "code_challenge": self.desktop and (len(challenge or "") != 64 or asked["code_challenge_method"] != "S256"),
        }
        if any(wrong.values()):
            raise ValueError(f"TikTok shows an error: {sorted(name for name, is_wrong in wrong.items() if is_wrong)}")
        code = f"{secrets.token_urlsafe(24)}*0!4242.va"
        given = wanted if scopes is None else frozenset(scopes)
        self.codes[code] = Code(person, given, asked["redirect_uri"], challenge)
        return code

    def token(self, request: ReceivedRequest) -> Answer:
        """Exchange a code or a refresh token, each of which is valid once."""
        form = {name: values[-1] for name, values in parse_qs(request.body.decode()).items()}
        if (form.get("client_key"), form.get("client_secret")) != (CLIENT_KEY, CLIENT_SECRET):
            return _error("invalid_client", "Client key or secret is incorrect.")
        if form.get("grant_type") == "refresh_token":
            access = self.refresh.pop(form.get("refresh_token", ""), None)
            if access is None or datetime.now(UTC) >= access.ends:
                return _error("invalid_grant", "Refresh token is invalid or expired.")
            return self._issue(access.person, access.scopes)
        if form.get("grant_type") != "authorization_code":
            return _error("unsupported_grant_type", "The grant type is not supported.")
        code = self.codes.pop(form.get("code", ""), None)
        if code is None or code.redirect_uri != form.get("redirect_uri"):
            return _error("invalid_grant", "Authorization code is expired.")
        proof = hashlib.sha256(form.get("code_verifier", "").encode()).hexdigest()
        if self.desktop and proof != code.challenge:
            return _error("invalid_request", "Code verifier or code challenge is invalid.")
        return self._issue(code.person, code.scopes)

    def revoke(self, request: ReceivedRequest) -> Answer:
        """Revoke the grants of the person to whom this access token belongs."""
        form = dict(parse_qsl(request.body.decode()))
        if (form.get("client_key"), form.get("client_secret")) != (CLIENT_KEY, CLIENT_SECRET):
            return _error("invalid_client", "Client key or secret is incorrect.")
        access = self.access.get(form.get("token", ""))
        if access is None:
            return _error("invalid_request", "The token does not exist.")
        self.withdraw(access.person)
        return Answer(200)

    def withdraw(self, person: str) -> None:
        """Delete all grants of a person."""
        self.access = {token: access for token, access in self.access.items() if access.person != person}
        self.refresh = {token: access for token, access in self.refresh.items() if access.person != person}

    def access_of(self, request: ReceivedRequest) -> Access | None:
        """The access of this request's token; None for an invalid or expired token."""
        access = self.access.get(request.headers.get("authorization", "").removeprefix("Bearer "))
        return access if access and datetime.now(UTC) < access.ends else None

    def _issue(self, person: str, scopes: frozenset[str]) -> Answer:
        now = datetime.now(UTC)
        token, refresh = f"act.{secrets.token_urlsafe(40)}", f"rft.{secrets.token_urlsafe(40)}"
        self.access[token] = Access(person, scopes, now + ACCESS_LIVES)
        self.refresh[refresh] = Access(person, scopes, now + REFRESH_LIVES)
        return Answer.of_json(
            {
                "open_id": f"open-{person}",
                "scope": ",".join(sorted(scopes)),
                "access_token": token,
                "expires_in": int(ACCESS_LIVES.total_seconds()),
                "refresh_token": refresh,
                "refresh_expires_in": int(REFRESH_LIVES.total_seconds()),
                "token_type": "Bearer",
            }
        )


def _error(error: str, description: str) -> Answer:
    return Answer.of_json({"error": error, "error_description": description, "log_id": "2026"}, 400)
