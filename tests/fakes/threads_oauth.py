"""Threads' OAuth in the stand-in: consent, codes and the three kinds of exchange, for one app.

Written from developers.facebook.com/docs/threads (get access tokens, long-lived tokens).
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, urlsplit

from tests.fakes.http_server import Answer, ReceivedRequest
from tests.fakes.meta import GraphRefusal, bearer_of, form_of, invalid_token

CLIENT_ID, CLIENT_SECRET = "1234567890123456", "0123456789abcdef-secret"
CODE_LIVES = timedelta(hours=1)
SHORT_LIVES, LONG_LIVES, OLD_ENOUGH = timedelta(hours=1), timedelta(days=60), timedelta(days=1)
KNOWN_SCOPES = frozenset(
    {"threads_basic", "threads_content_publish", "threads_manage_replies", "threads_read_replies", "threads_delete"}
)


@dataclass(frozen=True)
class Access:
    """The access that a code or a token gives."""

    user_id: str
    scopes: tuple[str, ...]
    made: datetime
    ends: datetime
    redirect_uri: str = ""


class ThreadsOAuth:
    """The consent page and the token endpoints."""

    def __init__(self, site: str) -> None:
        self._site = site
        self.redirect_uris: set[str] = set()
        self.codes: dict[str, Access] = {}
        self.short: dict[str, Access] = {}
        self.long: dict[str, Access] = {}

    def grant(self, url: str, user_id: str) -> str:
        """Consent as the owner; returns the code as the page sends it back. Raises ValueError."""
        parts, asked = urlsplit(url), dict(parse_qsl(urlsplit(url).query, strict_parsing=True))
        scopes = asked.get("scope", "").split(",")
        wrong = {
            "address": f"{parts.scheme}://{parts.netloc}{parts.path}" != f"{self._site}/oauth/authorize",
            "response_type": asked.get("response_type") != "code",
            "client_id": asked.get("client_id") != CLIENT_ID,
            "redirect_uri": asked.get("redirect_uri") not in self.redirect_uris,
            "scope": "threads_basic" not in scopes or not KNOWN_SCOPES.issuperset(scopes),
            "state": not asked.get("state"),
        }
        if named := [name for name, is_wrong in wrong.items() if is_wrong]:
            raise ValueError(f"Threads shows an error instead of the consent: {', '.join(named)}")
        code, now = secrets.token_urlsafe(60), datetime.now(UTC)
        self.codes[code] = Access(user_id, tuple(scopes), now, now + CODE_LIVES, asked["redirect_uri"])
        return f"{code}#_"

    def of_code(self, request: ReceivedRequest) -> Answer:
        """Exchange a code, which is valid once, for a token of an hour."""
        form = form_of(request)
        named = (form.get("client_id"), form.get("client_secret"), form.get("grant_type"))
        if named != (CLIENT_ID, CLIENT_SECRET, "authorization_code"):
            raise GraphRefusal(101, "Error validating client secret.")
        code = self.codes.pop(form.get("code", ""), None)
        if code is None or datetime.now(UTC) >= code.ends or form.get("redirect_uri") != code.redirect_uri:
            raise GraphRefusal(100, "This authorization code has been used or has expired.", 36009)
        token = self._issue(self.short, code, SHORT_LIVES)
        return Answer.of_json({"access_token": token, "user_id": int(code.user_id)})

    def long_lived(self, request: ReceivedRequest) -> Answer:
        """Exchange a token of an hour for one of 60 days."""
        query = request.query
        if (query.get("grant_type"), query.get("client_secret")) != ("th_exchange_token", CLIENT_SECRET):
            raise GraphRefusal(101, "Error validating client secret.")
        return self._renewed(self.short.get(query.get("access_token", "")))

    def refreshed(self, request: ReceivedRequest) -> Answer:
        """Exchange a valid token that is a day old for a new one of 60 days."""
        if request.query.get("grant_type") != "th_refresh_token":
            raise GraphRefusal(100, "The grant_type is not supported.")
        access = self.long.get(request.query.get("access_token", ""))
        if access and datetime.now(UTC) < access.made + OLD_ENOUGH:
            raise GraphRefusal(100, "The access token must be at least 24 hours old.")
        return self._renewed(access)

    def access_of(self, request: ReceivedRequest) -> Access:
        """The access of the token of this request. Raises GraphRefusal."""
        access = self.long.get(bearer_of(request)) or self.short.get(bearer_of(request))
        if access is None or datetime.now(UTC) >= access.ends:
            raise invalid_token(463)
        return access

    def _renewed(self, access: Access | None) -> Answer:
        if access is None or datetime.now(UTC) >= access.ends:
            raise invalid_token(463)
        token = self._issue(self.long, access, LONG_LIVES)
        lives = int(LONG_LIVES.total_seconds())
        return Answer.of_json({"access_token": token, "token_type": "bearer", "expires_in": lives})

    def _issue(self, kind: dict[str, Access], access: Access, lives: timedelta) -> str:
        token, now = f"THAA{secrets.token_urlsafe(90)}", datetime.now(UTC)
        kind[token] = Access(access.user_id, access.scopes, now, now + lives)
        return token
