"""OAuth at Threads: a code for a token of an hour, that for one of 60 days, and a new one for that while it is good.

There is no PKCE, no refresh token and no revocation. Source: developers.facebook.com/docs/threads (get access tokens,
long-lived tokens).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from accounts.platforms import oauth
from accounts.platforms.meta.tokens import code_of, exchange, renew
from accounts.platforms.threads.account import PRODUCT
from accounts.platforms.types import Authorization


@dataclass(frozen=True)
class Application:
    """The operator's app at Threads, which has an id and a secret of its own inside the Meta app."""

    client_id: str
    client_secret: str = field(repr=False)
    api: str  # where tokens are issued, without a version and without a trailing slash
    site: str  # where people grant
    scopes: tuple[str, ...]

    def authorize(self, state: str, redirect_uri: str) -> Authorization:
        """Where the owner grants access."""
        params = {
            "client_id": self.client_id,
            "redirect_uri": redirect_uri,
            "scope": ",".join(self.scopes),
            "response_type": "code",
            "state": state,
        }
        return Authorization(oauth.with_query(f"{self.site}/oauth/authorize", params))

    def exchange(self, code: str, redirect_uri: str) -> dict[str, Any]:
        """The answer with a long-lived token. Raises CredentialsRejected, ConnectionUnavailable, Transient."""
        form = {
            "grant_type": "authorization_code",
            "client_id": self.client_id,
            "client_secret": self.client_secret,
            "redirect_uri": redirect_uri,
            "code": code_of(code),
        }
        short = exchange(PRODUCT, "POST", f"{self.api}/oauth/access_token", form)
        fields = {
            "grant_type": "th_exchange_token",
            "client_secret": self.client_secret,
            "access_token": short["access_token"],
        }
        return exchange(PRODUCT, "GET", f"{self.api}/access_token", fields)

    def renew(self, token: str) -> dict[str, Any]:
        """The answer with a new token for one that is good and a day old. Raises AccountDisconnected, Transient."""
        fields = {"grant_type": "th_refresh_token", "access_token": token}
        return renew(PRODUCT, f"{self.api}/refresh_access_token", fields)
