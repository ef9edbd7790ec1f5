"""LinkedIn's OAuth 2.0: applications with their products, consent, codes, and tokens with their expiry.

Written from learn.microsoft.com/linkedin (authorization code flow, programmatic refresh tokens, error handling; getting
access and increasing access: the scopes that products open). As developers report: the scopes of the Community Management
API as its applications list them, and that it has to be the only product of its application. A code or refresh token of
another application is refused as RFC 6749 (5.2) says.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, parse_qsl, urlsplit

from tests.fakes.http_server import Answer, ReceivedRequest

CLIENT_ID, CLIENT_SECRET = "86client", "WPL_AP1.secret"  # of the application for members
PAGES_CLIENT_ID, PAGES_CLIENT_SECRET = "77pages", "WPL_AP1.pages-secret"
SIGN_IN, SHARE = "Sign In with LinkedIn using OpenID Connect", "Share on LinkedIn"
COMMUNITY_MANAGEMENT, ADVERTISING = "Community Management API", "Advertising API"
PRODUCTS = {
    SIGN_IN: "openid profile email",
    SHARE: "w_member_social",
    COMMUNITY_MANAGEMENT: "r_basicprofile r_1st_connections_size r_member_postAnalytics r_member_profileAnalytics "
    "r_organization_followers r_organization_social r_organization_social_feed rw_organization_admin w_member_social "
    "w_member_social_feed w_organization_social w_organization_social_feed",
    ADVERTISING: "r_basicprofile r_1st_connections_size r_ads rw_ads r_ads_reporting r_organization_admin "
    "r_organization_social rw_organization_admin w_member_social w_organization_social",
}
CODE_LIVES = timedelta(minutes=30)
ACCESS_LIVES = timedelta(days=60)
REFRESH_LIVES = timedelta(days=365)


@dataclass
class Application:
    """A developer's application at LinkedIn.

    `mark` ends the ids of members, which are different for each application. Without `approved` it gets no refresh tokens,
    and without `batches` (the development tier) it may not request several pages at once.
    """

    client_secret: str
    products: tuple[str, ...]
    mark: str = ""
    approved: bool = True
    batches: bool = True

    def __post_init__(self) -> None:
        if COMMUNITY_MANAGEMENT in self.products and len(self.products) > 1:
            raise ValueError("This API product requires that it be the only product on the application.")

    @property
    def scopes(self) -> set[str]:
        return {scope for product in self.products for scope in PRODUCTS[product].split()}


@dataclass(frozen=True)
class Code:
    """A member's consent to a LinkedIn application, valid for one exchange."""

    client_id: str
    member_id: str
    scopes: tuple[str, ...]
    redirect_uri: str
    ends: datetime


@dataclass
class Access:
    """The access that a LinkedIn token gives to an application, and its expiry."""

    client_id: str
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
    """LinkedIn's consent page and token endpoint, with one application for members and one for pages."""

    def __init__(self, site: str) -> None:
        self._site = site
        self.redirect_uris: set[str] = set()
        self.applications = {
            CLIENT_ID: Application(CLIENT_SECRET, (SIGN_IN, SHARE)),
            PAGES_CLIENT_ID: Application(PAGES_CLIENT_SECRET, (COMMUNITY_MANAGEMENT,), mark="-p"),
        }
        self.codes: dict[str, Code] = {}
        self.access: dict[str, Access] = {}
        self.refresh: dict[str, Access] = {}

    def grant(self, url: str, member_id: str, scopes: Iterable[str] | None) -> str:
        """Grant the scopes of the authorization URL, or fewer; returns the code. Raises ValueError."""
        parts, asked = urlsplit(url), dict(parse_qsl(urlsplit(url).query, strict_parsing=True))
        wanted = asked.get("scope", "").split(" ")
        application = self.applications.get(asked.get("client_id", ""))
        wrong = {
            "address": f"{parts.scheme}://{parts.netloc}{parts.path}" != f"{self._site}/oauth/v2/authorization",
            "response_type": asked.get("response_type") != "code",
            "client_id": application is None,
            "redirect_uri": asked.get("redirect_uri") not in self.redirect_uris,
            "unauthorized_scope_error": application is not None and not application.scopes.issuperset(wanted),
            "state": not asked.get("state"),
            "unknown parameter": bool(set(asked) - {"response_type", "client_id", "redirect_uri", "scope", "state"}),
        }
        if named := [name for name, is_wrong in wrong.items() if is_wrong]:
            raise ValueError(f"LinkedIn shows an error instead of the consent: {', '.join(named)}")
        code = secrets.token_urlsafe(60)
        granted = tuple(scopes) if scopes is not None else tuple(wanted)
        ends = datetime.now(UTC) + CODE_LIVES
        self.codes[code] = Code(asked["client_id"], member_id, granted, asked["redirect_uri"], ends)
        return code

    def token(self, request: ReceivedRequest) -> Answer:
        """Exchange a code, which is valid once, or a refresh token, which stays the same until it expires."""
        form = self._form(request)
        now = datetime.now(UTC)
        if form.get("grant_type") == "authorization_code":
            code = self.codes.pop(form.get("code", ""), None)
            if code is None or now >= code.ends or _meant(form) != (code.client_id, code.redirect_uri):
                raise OAuthRefusal("invalid_request", "Unable to retrieve access token: authorization code not found")
            return self._issue(code, None)
        if form.get("grant_type") == "refresh_token":
            old = self.refresh.get(form.get("refresh_token", ""))
            if old is None or old.revoked or now >= old.ends or old.client_id != form["client_id"]:
                raise OAuthRefusal("invalid_grant", "Token has been expired or revoked.")
            return self._issue(old, form["refresh_token"])
        raise OAuthRefusal("invalid_request", "A required parameter is missing or not known.")

    def opened_by(self, request: ReceivedRequest) -> Access | None:
        """The access of the request's bearer token, also an expired one; None for a token that LinkedIn did not issue."""
        return self.access.get(request.headers.get("authorization", "").removeprefix("Bearer "))

    def _issue(self, granted: Code | Access, refresh_token: str | None) -> Answer:
        now = datetime.now(UTC)
        opened = (granted.client_id, granted.member_id, granted.scopes)
        if refresh_token is None and self.applications[granted.client_id].approved:
            refresh_token = secrets.token_urlsafe(80)
            self.refresh[refresh_token] = Access(*opened, now + REFRESH_LIVES)
        ends = now + ACCESS_LIVES
        body: dict[str, object] = {}
        if refresh_token is not None:
            last = self.refresh[refresh_token].ends
            ends = min(ends, last)
            body = {"refresh_token": refresh_token, "refresh_token_expires_in": int((last - now).total_seconds())}
        token = secrets.token_urlsafe(120)
        self.access[token] = Access(*opened, ends)
        lives = int((ends - now).total_seconds())
        return Answer.of_json({"access_token": token, "expires_in": lives, "scope": ",".join(granted.scopes), **body})

    def _form(self, request: ReceivedRequest) -> dict[str, str]:
        """The form fields of a token request, after checking the application's id and secret."""
        if request.headers.get("content-type") != "application/x-www-form-urlencoded":
            raise OAuthRefusal("invalid_request", "The content type has to be a form's.")
        form = {name: values[-1] for name, values in parse_qs(request.body.decode(), keep_blank_values=True).items()}
        application = self.applications.get(form.get("client_id", ""))
        if application is None or form.get("client_secret") != application.client_secret:
            raise OAuthRefusal("invalid_client", "Client authentication failed", 401)
        return form


def _meant(form: dict[str, str]) -> tuple[str, str]:
    """The application and redirect URI that an exchanged code must be for."""
    return form["client_id"], form.get("redirect_uri", "")
