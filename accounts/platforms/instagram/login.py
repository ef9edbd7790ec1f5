"""Instagram Login: a code for a token of an hour, that for one of sixty days, and that renewed before it ends.

Nothing but the owner ends a grant at Instagram. Source: developers.facebook.com, instagram-platform,
instagram-api-with-instagram-login/business-login and reference/refresh_access_token.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from accounts.platforms import oauth
from accounts.platforms.errors import AccountDisconnected, CredentialsRejected, TokenExpired
from accounts.platforms.instagram.account import PRODUCT, identity
from accounts.platforms.instagram.capabilities import NEEDED
from accounts.platforms.meta.graph import Graph, unversioned
from accounts.platforms.meta.tokens import code_of, exchange, renew
from accounts.platforms.types import Authorization, Connection, Grant


@dataclass(frozen=True)
class Application:
    """The operator's app at Instagram."""

    client_id: str
    client_secret: str = field(repr=False)
    api: str  # with its version, without a trailing slash
    site: str  # where people grant
    tokens: str  # where codes are exchanged
    scopes: tuple[str, ...]

    def authorize(self, state: str, redirect_uri: str) -> Authorization:
        """Where the owner grants access."""
        params = {
            "client_id": self.client_id,
            "redirect_uri": redirect_uri,
            "response_type": "code",
            "scope": ",".join(self.scopes),
            "state": state,
        }
        return Authorization(oauth.with_query(f"{self.site}/oauth/authorize", params))

    def connection(self, code: str, redirect_uri: str) -> Connection:
        """The one account that the grant opens. Raises CredentialsRejected, ConnectionUnavailable, Transient."""
        form = {
            "client_id": self.client_id,
            "client_secret": self.client_secret,
            "grant_type": "authorization_code",
            "redirect_uri": redirect_uri,
            "code": code_of(code),
        }
        short = exchange(PRODUCT, "POST", f"{self.tokens}/oauth/access_token", form)
        granted = _permissions(short)
        _check(granted)
        asked = {"grant_type": "ig_exchange_token", "client_secret": self.client_secret}
        given = {"access_token": str(short["access_token"])}
        answer = exchange(PRODUCT, "GET", f"{unversioned(self.api)}/access_token", {**asked, **given})
        token = str(answer["access_token"])
        try:
            with PRODUCT.faults():
                account = identity(Graph(self.api, token))
        except (TokenExpired, AccountDisconnected) as error:
            raise CredentialsRejected(error.message) from error
        grant = Grant({}, {"access_token": token}, account.external_id, oauth.expiry_of(answer))
        return Connection(account, grant, granted)

    def renewed(self, grant: Grant) -> Grant:
        """The grant with a token of sixty days more; Instagram renews none that is younger than a day or has ended.

        Raises AccountDisconnected, Transient.
        """
        given = {"grant_type": "ig_refresh_token", "access_token": grant.tokens["access_token"]}
        answer = renew(PRODUCT, f"{unversioned(self.api)}/refresh_access_token", given)
        tokens = {**grant.tokens, "access_token": str(answer["access_token"])}
        return Grant(grant.credentials, tokens, grant.external_id, oauth.expiry_of(answer))


def _permissions(answer: dict[str, Any]) -> tuple[str, ...]:
    """What was granted: a list, or separated by commas."""
    told = answer.get("permissions")
    if isinstance(told, str):
        told = told.split(",")
    return tuple(each.strip() for each in told if isinstance(each, str)) if isinstance(told, list) else ()


def _check(granted: tuple[str, ...]) -> None:
    if missing := [scope for scope in NEEDED if scope not in granted]:
        raise CredentialsRejected(
            f"The grant lacks what the service needs at Instagram: {', '.join(missing)}.",
            suggested_action="Begin the connection again, and grant everything that Instagram asks for.",
        )
