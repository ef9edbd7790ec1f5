"""Slack's OAuth 2.0 for one app: installing it, codes, tokens and their scopes.

Written from docs.slack.dev: installing with OAuth, oauth.v2.access, using token rotation, and the methods' scopes.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

from tests.fakes.http_server import Answer, ReceivedRequest

CLIENT_ID, CLIENT_SECRET = "2141029472.691202649728", "e1b9e11dfcd19c1982d5de12921e17e8"
KNOWN_SCOPES = frozenset(
    {"chat:write", "chat:write.public", "channels:read", "groups:read", "channels:join", "files:write", "files:read"}
)
NEEDED = {
    "chat.postMessage": "chat:write",
    "conversations.list": "channels:read",
    "conversations.info": "channels:read",
    "files.getUploadURLExternal": "files:write",
    "files.completeUploadExternal": "files:write",
    "files.info": "files:read",
}


class Refused(Exception):
    """An error of Slack: of the Web API (`status` 200), or of a webhook, in plain text."""

    def __init__(self, code: str, status: int = 200) -> None:
        super().__init__(code)
        self.code, self.status = code, status

    def answer(self) -> Answer:
        """The error as HTTP."""
        if self.status == 200:
            return Answer.of_json({"ok": False, "error": self.code})
        return Answer(self.status, self.code.encode(), {"Content-Type": "text/html"})


class SlackOAuth:
    """Slack's page of installation and oauth.v2.access. `site` is where people install; `tokens` has the scopes by token."""

    def __init__(self, site: str, team: str) -> None:
        self._site, self._team = site, team
        self.redirect_uris: set[str] = set()
        self.rotates = False
        self.tokens: dict[str, tuple[str, ...]] = {}
        self._codes: dict[str, tuple[str, tuple[str, ...]]] = {}

    def grant(self, url: str, scopes: Iterable[str] | None) -> str:
        """Install the Slack app with the scopes of the URL, or fewer; returns the code. Raises ValueError."""
        parts, asked = urlsplit(url), dict(parse_qsl(urlsplit(url).query, strict_parsing=True))
        wanted = tuple(asked.get("scope", "").split(","))
        wrong = {
            "address": f"{parts.scheme}://{parts.netloc}{parts.path}" != f"{self._site}/oauth/v2/authorize",
            "client_id": asked.get("client_id") != CLIENT_ID,
            "redirect_uri": asked.get("redirect_uri") not in self.redirect_uris,
            "scope": not KNOWN_SCOPES.issuperset(wanted),
            "state": not asked.get("state"),
        }
        if named := [name for name, is_wrong in wrong.items() if is_wrong]:
            raise ValueError(f"Slack shows an error instead of the installation: {', '.join(named)}")
        code = secrets.token_hex(20)
        self._codes[code] = asked["redirect_uri"], tuple(scopes) if scopes is not None else wanted
        return code

    def access(self, request: ReceivedRequest) -> dict[str, Any]:
        """Exchange a Slack code, which is valid once."""
        named = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        if request.headers.get("authorization") != f"Basic {named}":
            raise Refused("bad_client_secret")
        form = arguments(request)
        redirect_uri, scopes = self._codes.pop(str(form.get("code")), ("", ()))
        if not redirect_uri:
            raise Refused("invalid_code")
        if form.get("redirect_uri") != redirect_uri:
            raise Refused("bad_redirect_uri")
        token = f"xoxb-{secrets.token_hex(16)}"
        self.tokens[token] = scopes
        rotation = {"refresh_token": f"xoxe-1-{secrets.token_hex(16)}", "expires_in": 43_200} if self.rotates else {}
        team = {"id": self._team, "name": "The Bench"}
        return {"access_token": token, "token_type": "bot", "scope": ",".join(scopes), "team": team, **rotation}

    def check(self, request: ReceivedRequest, method: str) -> None:
        """Raise Refused unless the bearer may call this Slack method."""
        if not request.headers.get("authorization", "").startswith("Bearer "):
            raise Refused("not_authed")
        if self._scopes(request) is None:
            raise Refused("token_revoked")
        if method in NEEDED and not self.may(request, NEEDED[method]):
            raise Refused("missing_scope")

    def may(self, request: ReceivedRequest, scope: str) -> bool:
        """Whether the bearer's Slack token has this scope."""
        return scope in (self._scopes(request) or ())

    def _scopes(self, request: ReceivedRequest) -> tuple[str, ...] | None:
        return self.tokens.get(request.headers.get("authorization", "").removeprefix("Bearer "))


def arguments(request: ReceivedRequest) -> dict[str, Any]:
    """The arguments of a call to Slack, from the query, a form or JSON."""
    if request.method == "GET":
        return dict(request.query)
    if request.headers.get("content-type", "").startswith("application/json"):
        return dict(request.json())
    return {name: values[-1] for name, values in parse_qs(request.body.decode(), keep_blank_values=True).items()}
