"""A stand-in of an OpenID provider: discovery, rotating keys, the authorization code flow, userinfo, access tokens.

Strict as the specifications ask: one client, authenticated by HTTP Basic (RFC 6749, 2.3.1); codes are good once, for their
redirect URI and PKCE verifier (RFC 7636); the nonce comes back in the ID token (OpenID Connect Core 1.0, 3.1.3.7).

    with FakeOpenIdProvider() as provider:
        provider.add_person("alice", email="alice@example.com", email_verified=True)
        callback = provider.sign_in(authorization_url, "alice")
        token = provider.access_token("alice")
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from tests.fakes.faults import FaultyServer
from tests.fakes.http_server import Answer, ReceivedRequest

CLIENT_ID, CLIENT_SECRET = "client-of-the-service", "secret-of-the-client"
AUDIENCE = "https://api.example.com"
DISCOVERY, KEYS, TOKEN, USERINFO = "discovery", "keys", "token", "userinfo"
_PATHS = {"/.well-known/openid-configuration": DISCOVERY, "/keys": KEYS, "/token": TOKEN, "/userinfo": USERINFO}


@dataclass(frozen=True)
class Code:
    """A sign-in at the OpenID provider that is not exchanged yet."""

    subject: str
    nonce: str
    challenge: str
    redirect_uri: str
    auth_time: int | None = None  # sent when max_age was asked for (OpenID Connect Core 1.0, 2)


@dataclass(frozen=True)
class SigningKey:
    kid: str
    algorithm: str
    private: Any

    def public(self) -> dict[str, Any]:
        made = jwt.get_algorithm_by_name(self.algorithm).to_jwk(self.private.public_key(), as_dict=True)
        return {**made, "kid": self.kid, "use": "sig"}


def new_key(kid: str, algorithm: str = "ES256") -> SigningKey:
    """A key pair of the OpenID provider; creating an RSA key takes a moment."""
    if algorithm.startswith("ES"):
        return SigningKey(kid, algorithm, ec.generate_private_key(ec.SECP256R1()))
    return SigningKey(kid, algorithm, rsa.generate_private_key(65537, 2048))


class FakeOpenIdProvider(FaultyServer):
    """An OpenID provider with one client. A test may change `id_token_extra` and `keys` to make it misbehave."""

    calls = frozenset({DISCOVERY, KEYS, TOKEN, USERINFO})

    def __init__(self, *, algorithm: str = "ES256") -> None:
        super().__init__()
        self.keys = [new_key("key-1", algorithm)]
        self.people: dict[str, dict[str, Any]] = {}
        self.discovery_extra: dict[str, Any] = {}
        self.id_token_extra: dict[str, Any] = {}  # claims that replace what the ID token would say; None leaves one out
        self.in_id_token: tuple[str, ...] = ()  # which of a person's claims stand in the ID token, not in userinfo alone
        self.userinfo_extra: dict[str, Any] = {}
        self.id_tokens: list[str] = []  # all that were issued
        self.authenticated: dict[str, int] = {}  # when each person last gave their password here
        self.ignores_prompt = False  # as a provider that supports neither prompt nor max_age, but sends auth_time
        self._codes: dict[str, Code] = {}
        self._access: dict[str, str] = {}

    # what a test arranges

    def add_person(self, subject: str, **claims: Any) -> None:
        self.people[subject] = claims

    def rotate(self) -> SigningKey:
        """Sign with a new key from now on, and publish only this key."""
        self.keys = [new_key(f"key-{secrets.token_hex(4)}", self.keys[0].algorithm)]
        return self.keys[0]

    def sign_in(self, authorization_url: str, subject: str) -> str:
        """Sign in as a person; returns the callback as path and query. Raises ValueError if the page would show an error."""
        parts = urlsplit(authorization_url)
        asked = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        wanted = {"response_type": "code", "client_id": CLIENT_ID, "code_challenge_method": "S256"}
        wrong = {name for name, value in wanted.items() if asked.get(name) != value}
        if f"{parts.scheme}://{parts.netloc}" != self.url or parts.path != "/authorize" or wrong:
            raise ValueError(f"The authorization page does not take this: {sorted(wrong)}")
        if "openid" not in asked["scope"].split():
            raise ValueError("The authorization page is not asked for OpenID Connect.")
        code = secrets.token_urlsafe(16)
        auth_time = self._authenticate(subject, asked)
        self._codes[code] = Code(subject, asked["nonce"], asked["code_challenge"], asked["redirect_uri"], auth_time)
        return f"{urlsplit(asked['redirect_uri']).path}?{urlencode({'code': code, 'state': asked['state']})}"

    def _authenticate(self, subject: str, asked: dict[str, str]) -> int | None:
        """The time of the person's password check, repeated if the request asks for it or the person has no session."""
        now, before = int(time.time()), self.authenticated.get(subject)
        wanted = asked.get("prompt") == "login" or ("max_age" in asked and now - (before or 0) >= int(asked["max_age"]))
        if before is None or (wanted and not self.ignores_prompt):
            self.authenticated[subject] = now
        return self.authenticated[subject] if "max_age" in asked else None

    def access_token(self, subject: str, *, key: SigningKey | None = None, **claims: Any) -> str:
        """A person's access token for the service's API (RFC 9068); a claim that is None is left out."""
        times = self.times()
        claims = {"client_id": CLIENT_ID, "auth_time": times["iat"], **claims}
        return self.signed({"aud": AUDIENCE, **times, "sub": subject, **claims}, key, typ="at+jwt")

    def client_token(self, client: str, **claims: Any) -> str:
        """A program's access token by the client credentials grant; the subject is the client (RFC 9068, section 2.2)."""
        return self.access_token(client, **{"client_id": client, "auth_time": None, **claims})

    def signed(self, claims: dict[str, Any], key: SigningKey | None = None, typ: str | None = "JWT") -> str:
        """A JWT of this type (RFC 7515, section 4.1.9); a claim or type that is None is left out."""
        used = key or self.keys[0]
        said = {name: value for name, value in {"iss": self.url, **claims}.items() if value is not None}
        return jwt.encode(said, used.private, used.algorithm, {"kid": used.kid, "typ": typ})

    # the service

    def call_of(self, request: ReceivedRequest) -> str:
        return _PATHS[request.path]

    def perform(self, request: ReceivedRequest) -> Answer:
        call = self.call_of(request)
        if call == DISCOVERY:
            return Answer.of_json(self._document())
        if call == KEYS:
            return Answer.of_json({"keys": [key.public() for key in self.keys]})
        return self._exchange(request) if call == TOKEN else self._userinfo(request)

    def _document(self) -> dict[str, Any]:
        document = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "jwks_uri": f"{self.url}/keys",
            **self.discovery_extra,
        }
        return {name: value for name, value in document.items() if value is not None}

    def _exchange(self, request: ReceivedRequest) -> Answer:
        form = {name: values[-1] for name, values in parse_qs(request.body.decode()).items()}
        basic = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        if request.headers.get("authorization") != f"Basic {basic}":
            return Answer.of_json({"error": "invalid_client"}, 401)
        code = self._codes.pop(form["code"], None)
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if code is None or (code.challenge, code.redirect_uri) != (challenge, form["redirect_uri"]):
            return Answer.of_json({"error": "invalid_grant"}, 400)
        access = secrets.token_urlsafe(24)
        self._access[access] = code.subject
        claims_of_person = {name: self.people[code.subject][name] for name in self.in_id_token}
        claims = {"aud": CLIENT_ID, **self.times(), "sub": code.subject, "nonce": code.nonce, **claims_of_person}
        claims["auth_time"] = code.auth_time
        id_token = self.signed({**claims, **self.id_token_extra})
        self.id_tokens.append(id_token)
        return Answer.of_json({"access_token": access, "token_type": "Bearer", "id_token": id_token, "expires_in": 300})

    def _userinfo(self, request: ReceivedRequest) -> Answer:
        subject = self._access.get(request.headers.get("authorization", "").removeprefix("Bearer "))
        if subject is None:
            return Answer.of_json({"error": "invalid_token"}, 401)
        claims_of_person = {name: value for name, value in self.people[subject].items() if name not in self.in_id_token}
        return Answer.of_json({"sub": subject, **claims_of_person, **self.userinfo_extra})

    @staticmethod
    def times() -> dict[str, int]:
        """The issue and expiry times of a token that is issued now."""
        now = int(time.time())
        return {"iat": now, "exp": now + 300}


def unsigned(token: str, **header: Any) -> str:
    """A token with the same claims, another header and no signature (`alg`: none)."""
    head = base64.urlsafe_b64encode(json.dumps(header).encode()).decode().rstrip("=")
    return f"{head}.{token.split('.')[1]}."
