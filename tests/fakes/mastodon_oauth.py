"""OAuth of the Mastodon stand-in: registration of applications, the owner's grant, tokens and their revocation.

Source: docs.joinmastodon.org, methods/apps and methods/oauth; the words of errors are Doorkeeper's, which it is built on.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.fakes.http_server import Answer, ReceivedRequest
from tests.fakes.mastodon_accounts import MastodonStore
from tests.fakes.mastodon_documents import SCOPES
from tests.fakes.mastodon_requests import Refusal, parameters

REGISTER, TOKEN, REVOKE = "POST /api/v1/apps", "POST /oauth/token", "POST /oauth/revoke"
CODE_LIFETIME = timedelta(minutes=10)
NAME_LENGTH = 60  # mastodon/mastodon, ApplicationExtension


@dataclass(frozen=True)
class Application:
    """An application that is registered at the Mastodon stand-in."""

    client_id: str
    client_secret: str
    name: str
    website: str
    redirect_uris: tuple[str, ...]
    scopes: frozenset[str]


@dataclass
class Code:
    """An authorization code of the Mastodon stand-in, until it is exchanged."""

    client_id: str
    redirect_uri: str
    owner: str
    scopes: tuple[str, ...]
    challenge: str | None
    granted_at: datetime
    used: bool = False


class MastodonOAuth:
    """The applications, codes and tokens of the Mastodon stand-in, over one store."""

    def __init__(self, store: MastodonStore) -> None:
        self.store = store
        self.applications: dict[str, Application] = {}
        self.closed = False  # a server that takes no registrations
        self.codes: dict[str, Code] = {}
        self.made_for: dict[str, str] = {}  # tokens, by the client that they were made for
        self.endpoints: dict[str, Callable[[ReceivedRequest], Answer]] = {
            REGISTER: self.register,
            TOKEN: self.token,
            REVOKE: self.revoke,
        }

    def grant(self, address: str, username: str) -> str:
        """Grant access to a Mastodon account; return the code. Checks the address as the consent page does."""
        parts = urlsplit(address)
        asked = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
        if f"{parts.scheme}://{parts.netloc}{parts.path}" != f"{self.store.origin}/oauth/authorize":
            raise ValueError(f"{address} is no authorization page of this server")
        application = self.applications.get(asked.get("client_id", ""))
        if application is None:
            raise ValueError("Client authentication failed due to unknown client")
        if asked.get("redirect_uri") not in application.redirect_uris:
            raise ValueError("The requested redirect uri is malformed or doesn't match client redirect URI.")
        if asked.get("response_type") != "code":
            raise ValueError("The authorization server does not support this response type.")
        scopes = tuple(asked.get("scope", "read").split())
        if not self.may_ask(application, scopes):
            raise ValueError("The requested scope is invalid, unknown, or malformed.")
        if "code_challenge" in asked and asked.get("code_challenge_method") != "S256":
            raise ValueError("The code_challenge_method must be S256.")
        code = secrets.token_urlsafe(32)
        self.codes[code] = Code(
            application.client_id,
            asked["redirect_uri"],
            self.store.person(username).id,
            scopes,
            asked.get("code_challenge"),
            datetime.now(UTC),
        )
        return code

    def may_ask(self, application: Application, scopes: tuple[str, ...]) -> bool:
        """Whether Mastodon's consent page lets the application request these scopes."""
        return set(scopes) <= application.scopes

    # the service

    def register(self, request: ReceivedRequest) -> Answer:
        given = parameters(request)
        if self.closed:
            raise Refusal(403, "This method is not available")
        uris = tuple(str(given.get("redirect_uris") or "").split())
        if not given.get("client_name") or not uris or any(not urlsplit(uri).scheme for uri in uris):
            raise Refusal(422, "Validation failed: Redirect URI must be an absolute URI.")
        if len(str(given["client_name"])) > NAME_LENGTH:
            raise Refusal(422, f"Validation failed: Name is too long (maximum is {NAME_LENGTH} characters)")
        if urlsplit(str(given.get("website") or "https://none")).scheme not in ("http", "https"):
            raise Refusal(422, "Validation failed: Website is not a valid URL")
        scopes = frozenset(str(given.get("scopes") or "read").split())
        if not scopes <= set(SCOPES):
            raise Refusal(422, "Validation failed: Scopes doesn't match configured on the server.")
        application = Application(
            secrets.token_urlsafe(32),
            secrets.token_urlsafe(32),
            str(given["client_name"]),
            str(given.get("website") or ""),
            uris,
            scopes,
        )
        self.applications[application.client_id] = application
        entity = {
            "id": str(len(self.applications)),
            "name": application.name,
            "website": application.website,
            "scopes": sorted(scopes),
            "redirect_uris": list(uris),
            "redirect_uri": "\n".join(uris),
            "client_id": application.client_id,
            "client_secret": application.client_secret,
            "client_secret_expires_at": 0,
        }
        return Answer.of_json(entity)

    def token(self, request: ReceivedRequest) -> Answer:
        """Exchange a Mastodon code: valid once, for ten minutes, for its application, redirect URI and verifier."""
        given = parameters(request)
        self._authenticate(given)
        if given.get("grant_type") != "authorization_code":
            return _error(400, "unsupported_grant_type")
        code = self.codes.pop(str(given.get("code")), None)
        if code is None or not self._fits(code, given):
            return _error(400, "invalid_grant")
        return self.issue(code)

    def issue(self, code: Code) -> Answer:
        """Issue a Mastodon token for a code."""
        token = secrets.token_urlsafe(32)
        self.store.people[code.owner].tokens[token] = frozenset(code.scopes)
        self.made_for[token] = code.client_id
        made = {
            "access_token": token,
            "token_type": "Bearer",
            "scope": " ".join(code.scopes),
            "created_at": int(datetime.now(UTC).timestamp()),
        }
        return Answer.of_json(made)

    def revoke(self, request: ReceivedRequest) -> Answer:
        """Revoke a Mastodon token for its own application; a token that does not exist counts as revoked."""
        given = parameters(request)
        token = str(given.get("token"))
        application = self.applications.get(str(given.get("client_id")))
        is_authenticated = application is not None and application.client_secret == given.get("client_secret")
        owned = application is not None and self.made_for.get(token, application.client_id) == application.client_id
        if not is_authenticated or not owned:
            return _error(403, "unauthorized_client")
        for person in self.store.people.values():
            person.tokens.pop(token, None)
        return Answer.of_json({})

    def _authenticate(self, given: dict[str, Any]) -> None:
        application = self.applications.get(str(given.get("client_id")))
        if application is None or application.client_secret != given.get("client_secret"):
            raise Refusal(401, "invalid_client")

    @staticmethod
    def _fits(code: Code, given: dict[str, Any]) -> bool:
        late = datetime.now(UTC) - code.granted_at > CODE_LIFETIME
        same = (code.client_id, code.redirect_uri) == (given.get("client_id"), given.get("redirect_uri"))
        digest = hashlib.sha256(str(given.get("code_verifier", "")).encode()).digest()
        verified = code.challenge in (None, base64.urlsafe_b64encode(digest).decode().rstrip("="))
        return same and verified and not late


def _error(status: int, error: str) -> Answer:
    return Answer.of_json({"error": error, "error_description": "The request was refused."}, status)
