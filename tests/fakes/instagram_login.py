"""Instagram Login in the stand-in: consent, codes, tokens of an hour and of sixty days, and their renewal.

Sources: developers.facebook.com, instagram-api-with-instagram-login/business-login, instagram-platform/reference
(access_token, refresh_access_token).
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, urlsplit

from tests.fakes.http_server import Answer, ReceivedRequest
from tests.fakes.meta import GraphRefusal, bearer_of, form_of, invalid_token

CLIENT_ID, CLIENT_SECRET = "990602627938098", "secret-of-the-app"
KNOWN_SCOPES = frozenset(
    {
        "instagram_business_basic",
        "instagram_business_content_publish",
        "instagram_business_manage_comments",
        "instagram_business_manage_messages",
    }
)
SHORT, LONG, RENEWABLE_AFTER = timedelta(hours=1), timedelta(days=60), timedelta(hours=24)


@dataclass(frozen=True)
class Token:
    """The access of a token."""

    user_id: str
    scopes: tuple[str, ...]
    made: datetime
    ends: datetime


@dataclass(frozen=True)
class Code:
    user_id: str
    scopes: tuple[str, ...]
    redirect_uri: str
    ends: datetime


class LoginRefusal(Exception):
    """An error of the endpoint that exchanges codes."""

    def __init__(self, message: str) -> None:
        super().__init__(message)

    def answer(self) -> Answer:
        fields = {"error_type": "OAuthException", "code": 400, "error_message": str(self)}
        return Answer.of_json(fields, 400)


class InstagramLogin:
    """The dialog and the token endpoints of one app. `wrapped`: the response to a code is in a list."""

    def __init__(self, site: str) -> None:
        self._site = site
        self.redirect_uris: set[str] = set()
        self.codes: dict[str, Code] = {}
        self.tokens: dict[str, Token] = {}
        self.wrapped = True

    def grant(self, url: str, user_id: str, scopes: Iterable[str] | None) -> str:
        """Consent as the owner to the scopes of the URL, or to these only; returns the code. Raises ValueError."""
        parts, asked = urlsplit(url), dict(parse_qsl(urlsplit(url).query, strict_parsing=True))
        wanted = asked.get("scope", "").split(",")
        wrong_ones = {
            "address": f"{parts.scheme}://{parts.netloc}{parts.path}" != f"{self._site}/oauth/authorize",
            "response_type": asked.get("response_type") != "code",
            "client_id": asked.get("client_id") != CLIENT_ID,
            "redirect_uri": asked.get("redirect_uri") not in self.redirect_uris,
            "scope": not KNOWN_SCOPES.issuperset(wanted),
            "state": not asked.get("state"),
        }
        if named := [name for name, is_wrong in wrong_ones.items() if is_wrong]:
            raise ValueError(f"Instagram shows an error instead of the consent: {', '.join(named)}")
        code = secrets.token_urlsafe(40)
        granted = tuple(wanted if scopes is None else scopes)
        self.codes[code] = Code(user_id, granted, asked["redirect_uri"], datetime.now(UTC) + SHORT)
        return f"{code}#_"

    def exchange_code(self, request: ReceivedRequest) -> Answer:
        given = form_of(request)
        if given.get("client_id") != CLIENT_ID:
            raise LoginRefusal("Invalid platform app")
        if given.get("client_secret") != CLIENT_SECRET:
            raise LoginRefusal("Error validating client secret.")
        code = self.codes.pop(given.get("code", ""), None)
        if given.get("grant_type") != "authorization_code" or code is None or datetime.now(UTC) >= code.ends:
            raise LoginRefusal("Matching code was not found or was already used")
        if given.get("redirect_uri") != code.redirect_uri:
            raise LoginRefusal("Error validating verification code. Please make sure your redirect_uri is identical.")
        token = self.issue(code.user_id, code.scopes, SHORT)
        fields = {"access_token": token, "user_id": int(code.user_id), "permissions": ",".join(code.scopes)}
        return Answer.of_json({"data": [fields]} if self.wrapped else fields)

    def lengthen(self, request: ReceivedRequest) -> Answer:
        """Exchange a token of an hour for one of sixty days."""
        given = dict(request.query)
        if given.get("grant_type") != "ig_exchange_token" or given.get("client_secret") != CLIENT_SECRET:
            raise GraphRefusal(1, "Error validating client secret.")
        return self._long(self._living(given.get("access_token", "")))

    def renew(self, request: ReceivedRequest) -> Answer:
        """Exchange a valid token that is a day old for a new one of sixty days; the old one stays valid until it expires."""
        token = self._living(request.query.get("access_token", ""))
        if request.query.get("grant_type") != "ig_refresh_token" or datetime.now(UTC) < token.made + RENEWABLE_AFTER:
            raise GraphRefusal(-1, "Cannot refresh this access token yet.")
        return self._long(token)

    def access_of(self, request: ReceivedRequest) -> Token:
        """The access of this request's token."""
        return self._living(bearer_of(request))

    def issue(self, user_id: str, scopes: tuple[str, ...], lives: timedelta) -> str:
        made = f"IGAA{secrets.token_urlsafe(90)}"
        now = datetime.now(UTC)
        self.tokens[made] = Token(user_id, scopes, now, now + lives)
        return made

    def _long(self, token: Token) -> Answer:
        made = self.issue(token.user_id, token.scopes, LONG)
        seconds = int(LONG.total_seconds())
        fields = {"access_token": made, "token_type": "bearer", "expires_in": seconds}
        return Answer.of_json({**fields, "permissions": ",".join(token.scopes)})

    def _living(self, token: str) -> Token:
        opened = self.tokens.get(token)
        if opened is None:
            raise invalid_token(why="The session has been invalidated.")
        if datetime.now(UTC) >= opened.ends:
            raise invalid_token(463)
        return opened
