"""Accounts and sessions of the Bluesky stand-in: app passwords, access and refresh tokens.

Not thread-safe: the caller holds the stand-in's lock. Statuses and messages measured against a reference PDS.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import time
from dataclasses import dataclass
from typing import Any, Literal

from tests.fakes.xrpc import XrpcError, invalid_request

ACCESS_LIFETIME = 2 * 3600  # seconds, named in the token; the stand-in ends tokens only when asked to
REFRESH_LIFETIME = 90 * 24 * 3600
REFRESH_SCOPE = "com.atproto.refresh"
APP_PASSWORD_SCOPE, FULL_SCOPE = "com.atproto.appPass", "com.atproto.access"

Kind = Literal["access", "refresh"]


@dataclass
class Account:
    """An account of the Bluesky stand-in."""

    handle: str
    did: str
    app_password: str
    main_password: str | None = None  # None: nobody signs in with it
    taken_down: bool = False
    display_name: str | None = None  # None: the AppView has no profile of it

    @property
    def email(self) -> str:
        """The e-mail address of the Bluesky account, with which it may sign in as well."""
        return f"{self.handle}@example.com"


@dataclass
class Token:
    """A token that the Bluesky stand-in issued. `family` names the refresh token that it was issued with."""

    kind: Kind
    did: str
    family: str
    expired: bool = False
    scope: str = APP_PASSWORD_SCOPE  # what the session's access tokens say


class Sessions:
    """The sessions of the Bluesky stand-in: accounts, their tokens, and when these expire."""

    def __init__(self) -> None:
        self.accounts: dict[str, Account] = {}
        self.created = 0
        self.refreshes = 0
        self._tokens: dict[str, Token] = {}
        self._successors: dict[str, str] = {}  # family of a used refresh token -> family of the next one
        self._live: set[str] = set()  # families of refresh tokens that may still be used
        self._serial = itertools.count(1)

    def add_account(self, handle: str, app_password: str, main_password: str | None = None) -> Account:
        """Add a Bluesky account, whose DID is derived from its handle."""
        handle = handle.lower()
        suffix = base64.b32encode(hashlib.sha256(handle.encode()).digest()).decode().lower()[:24]
        account = Account(handle, f"did:plc:{suffix}", app_password, main_password)
        self.accounts[account.did] = account
        return account

    def find(self, identifier: str) -> Account | None:
        """The Bluesky account with this DID, handle or e-mail address; None if there is none."""
        wanted = identifier.lower()
        return next((one for one in self.accounts.values() if wanted in (one.did, one.handle, one.email)), None)

    def log_in(self, identifier: str, password: str) -> dict[str, Any]:
        """Open a Bluesky session. With an app password, an account that was taken down is refused like a wrong password."""
        account = self.find(identifier)
        if account is None or account.taken_down or password not in (account.app_password, account.main_password):
            raise XrpcError(401, "AuthenticationRequired", "Invalid identifier or password")
        self.created += 1
        return self._pair(account, self._new_family(), _scope(account, password))

    def refresh(self, token: str) -> dict[str, Any]:
        """Issue the next tokens of a Bluesky session. A refresh token that is used again returns the same successor."""
        used = self._find_token(token, "refresh")
        if used.expired:
            raise _expired()
        account = self.accounts[used.did]
        if account.taken_down:
            raise _taken_down()
        if used.family not in self._live:
            raise XrpcError(400, "ExpiredToken", "Token has been revoked")
        successor = self._successors.setdefault(used.family, self._new_family())
        self.refreshes += 1
        return self._pair(account, successor, used.scope)

    def end(self, token: str) -> None:
        """Revoke a refresh token of a Bluesky session, even an expired one.

        Access tokens stay valid, as at the reference server."""
        self._live.discard(self._find_token(token, "refresh").family)

    def reader(self, token: str) -> Account:
        """The Bluesky account of an access token, for reading its own session. Raises XrpcError."""
        account = self._holder(token)
        if account.taken_down:
            raise invalid_request(f"Could not find user info for account: {account.did}")
        return account

    def writer(self, token: str) -> Account:
        """The Bluesky account of an access token, for writing. Raises XrpcError."""
        account = self._holder(token)
        if account.taken_down:
            raise _taken_down()
        return account

    def expire(self, kind: Kind) -> None:
        """Expire all tokens of a kind that the Bluesky stand-in has issued."""
        for token in self._tokens.values():
            token.expired = token.expired or token.kind == kind

    def end_grace(self) -> None:
        """Revoke the refresh tokens of Bluesky sessions that have a successor, as happens two hours after their first use."""
        self._live.difference_update(self._successors)

    def _holder(self, token: str) -> Account:
        access = self._find_token(token, "access")
        if access.expired:
            raise _expired()
        return self.accounts[access.did]

    def _find_token(self, text: str, kind: Kind) -> Token:
        token = self._tokens.get(text)
        if token is None or token.kind != kind:
            raise XrpcError(400, "InvalidToken", "Token could not be verified")
        return token

    def _new_family(self) -> str:
        return f"family-{next(self._serial)}"

    def _pair(self, account: Account, family: str, scope: str) -> dict[str, Any]:
        self._live.add(family)
        return {
            "accessJwt": self._issue("access", account.did, family, ACCESS_LIFETIME, scope),
            "refreshJwt": self._issue("refresh", account.did, family, REFRESH_LIFETIME, scope),
        }

    def _issue(self, kind: Kind, did: str, family: str, lifetime: int, scope: str) -> str:
        """A string with the format of a JWT and readable claims. `jti` of a refresh token is its family."""
        now = int(time.time())
        claims = {"aud": "did:web:localhost", "sub": did, "iat": now, "exp": now + lifetime}
        claims["scope"] = scope if kind == "access" else REFRESH_SCOPE
        if kind == "refresh":
            claims["jti"] = family
        head = {"typ": "at+jwt" if kind == "access" else "refresh+jwt", "alg": "HS256"}
        signature = hashlib.sha256(f"{kind}-{next(self._serial)}".encode()).digest()
        text = ".".join(_base64url(part) for part in (json.dumps(head).encode(), json.dumps(claims).encode(), signature))
        self._tokens[text] = Token(kind, did, family, scope=scope)
        return text


def _scope(account: Account, password: str) -> str:
    return FULL_SCOPE if password == account.main_password else APP_PASSWORD_SCOPE


def _base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def _expired() -> XrpcError:
    return XrpcError(400, "ExpiredToken", "Token has expired")


def _taken_down() -> XrpcError:
    return XrpcError(401, "AccountTakedown", "Account has been taken down")
