"""LinkedIn's OAuth 2.0: consent, codes, and tokens with their ends, for one app.

Written from learn.microsoft.com/linkedin (authorization code flow, programmatic refresh tokens, error handling).
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, parse_qsl, urlsplit

from tests.fakes.http_server import Answer, ReceivedRequest

CLIENT_ID, CLIENT_SECRET = "86client", "WPL_AP1.secret"
CODE_LIVES = timedelta(minutes=30)
ACCESS_LIVES = timedelta(days=60)
REFRESH_LIVES = timedelta(days=365)


@dataclass(frozen=True)
class Code:
    """A consent that was given, good for one exchange."""

    member_id: str
    scopes: tuple[str, ...]
    redirect_uri: str
    ends: datetime


@dataclass
class Access:
    """What a token opens, and until when."""

    member_id: str
    scopes: tuple[str, ...]
    ends: datetime
    revoked: bool = False


class OAuthRefusal(Exception):
    """An answer `{"error", "error_description"}`."""

    def __init__(self, error: str, description: str, status: int = 400) -> None:
        super().__init__(description)
        self.error, self.description, self.status = error, description, status

    def answer(self) -> Answer:
        """The error as HTTP."""
        return Answer.of_json({"error": self.error, "error_description": self.description}, self.status)


class LinkedInOAuth:
    """The consent page and the token endpoint. `products` are the scopes that the app's products open; an app that is not
    `approved` gets no refresh tokens."""

    def __init__(self, site: str) -> None:
        self._site = site
        self.redirect_uris: set[str] = set()
        self.products = {
            "openid",
            "profile",
            "email",
            "w_member_social",
            "w_organization_social",
            "rw_organization_admin",
            "w_member_social_feed",
            "w_organization_social_feed",
        }
        self.approved = True
        self.codes: dict[str, Code] = {}
        self.access: dict[str, Access] = {}
        self.refresh: dict[str, Access] = {}

    def grant(self, url: str, member_id: str, scopes: Iterable[str] | None) -> str:
        """The member agrees to what the address asks for, or to less of it; returns the code. Raises ValueError."""
        parts, asked = urlsplit(url), dict(parse_qsl(urlsplit(url).query, strict_parsing=True))
        wanted = asked.get("scope", "").split(" ")
        wrong = {
            "address": f"{parts.scheme}://{parts.netloc}{parts.path}" != f"{self._site}/oauth/v2/authorization",
            "response_type": asked.get("response_type") != "code",
            "client_id": asked.get("client_id") != CLIENT_ID,
            "redirect_uri": asked.get("redirect_uri") not in self.redirect_uris,
            "unauthorized_scope_error": not wanted or not self.products.issuperset(wanted),
            "state": not asked.get("state"),
            "unknown parameter": bool(set(asked) - {"response_type", "client_id", "redirect_uri", "scope", "state"}),
        }
        if named := [name for name, is_wrong in wrong.items() if is_wrong]:
            raise ValueError(f"LinkedIn shows an error instead of the consent: {', '.join(named)}")
        code = secrets.token_urlsafe(60)
        granted = tuple(scopes) if scopes is not None else tuple(wanted)
        self.codes[code] = Code(member_id, granted, asked["redirect_uri"], datetime.now(UTC) + CODE_LIVES)
        return code

    def token(self, request: ReceivedRequest) -> Answer:
        """Exchange a code, which is good for one use, or a refresh token, which stays the same until its end."""
        form = _form(request)
        now = datetime.now(UTC)
        if form.get("grant_type") == "authorization_code":
            code = self.codes.pop(form.get("code", ""), None)
            if code is None or now >= code.ends or form.get("redirect_uri") != code.redirect_uri:
                raise OAuthRefusal("invalid_request", "Unable to retrieve access token: authorization code not found")
            return self._issue(code.member_id, code.scopes, None)
        if form.get("grant_type") == "refresh_token":
            old = self.refresh.get(form.get("refresh_token", ""))
            if old is None or old.revoked or now >= old.ends:
                raise OAuthRefusal("invalid_grant", "Token has been expired or revoked.")
            return self._issue(old.member_id, old.scopes, form["refresh_token"])
        raise OAuthRefusal("invalid_request", "A required parameter is missing or not known.")

    def opened_by(self, request: ReceivedRequest) -> Access | None:
        """What the bearer of this request may do, or could once; None for a token that is none."""
        return self.access.get(request.headers.get("authorization", "").removeprefix("Bearer "))

    def _issue(self, member_id: str, scopes: tuple[str, ...], refresh_token: str | None) -> Answer:
        now = datetime.now(UTC)
        if refresh_token is None and self.approved:
            refresh_token = secrets.token_urlsafe(80)
            self.refresh[refresh_token] = Access(member_id, scopes, now + REFRESH_LIVES)
        ends = now + ACCESS_LIVES
        body: dict[str, object] = {}
        if refresh_token is not None:
            last = self.refresh[refresh_token].ends
            ends = min(ends, last)
            body = {"refresh_token": refresh_token, "refresh_token_expires_in": int((last - now).total_seconds())}
        token = secrets.token_urlsafe(120)
        self.access[token] = Access(member_id, scopes, ends)
        lives = int((ends - now).total_seconds())
        return Answer.of_json({"access_token": token, "expires_in": lives, "scope": ",".join(scopes), **body})


def _form(request: ReceivedRequest) -> dict[str, str]:
    """The form, of a client that has named itself in it."""
    if request.headers.get("content-type") != "application/x-www-form-urlencoded":
        raise OAuthRefusal("invalid_request", "The content type has to be a form's.")
    form = {name: values[-1] for name, values in parse_qs(request.body.decode(), keep_blank_values=True).items()}
    if (form.get("client_id"), form.get("client_secret")) != (CLIENT_ID, CLIENT_SECRET):
        raise OAuthRefusal("invalid_client", "Client authentication failed", 401)
    return form
