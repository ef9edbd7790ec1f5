"""Facebook Login: a code for a person's token, that for a long-lived one, and with it the tokens of the person's pages.

A page's token that was taken by a long-lived one does not end by itself; it ends with the person's password, role or
consent, and nothing renews it but another login. Sources: developers.facebook.com,
facebook-login/guides/advanced/manual-flow, facebook-login/guides/access-tokens/get-long-lived, pages-api/manage-pages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from accounts.platforms import oauth
from accounts.platforms.errors import AccountDisconnected, CredentialsRejected, TokenExpired
from accounts.platforms.facebook.capabilities import NEEDED
from accounts.platforms.facebook.page import FIELDS, PRODUCT, identity_of
from accounts.platforms.meta.graph import Graph, cursor_after, entries
from accounts.platforms.meta.tokens import code_of, exchange
from accounts.platforms.types import Authorization, Connection, Grant

PAGES_AT_ONCE = 100
MAX_LISTS = 10
MAY_PUBLISH = frozenset({"CREATE_CONTENT", "PROFILE_PLUS_CREATE_CONTENT", "PROFILE_PLUS_FULL_CONTROL"})


@dataclass(frozen=True)
class Application:
    """The operator's app at Facebook."""

    client_id: str
    client_secret: str = field(repr=False)
    api: str  # with its version, without a trailing slash
    site: str  # where people grant, likewise
    scopes: tuple[str, ...]

    def authorize(self, state: str, redirect_uri: str) -> Authorization:
        """Where a person grants the service access to their pages."""
        params = {
            "client_id": self.client_id,
            "redirect_uri": redirect_uri,
            "state": state,
            "response_type": "code",
            "scope": ",".join(self.scopes),
        }
        return Authorization(oauth.with_query(f"{self.site}/dialog/oauth", params))

    def connections(self, code: str, redirect_uri: str) -> tuple[Connection, ...]:
        """Every page of the person that the service may publish to.

        Raises CredentialsRejected (the code, a missing permission, no page), ConnectionUnavailable, Transient.
        """
        person = Graph(self.api, self._token_for(code, redirect_uri), self.client_secret)
        try:
            with PRODUCT.faults():
                granted = _granted(person)
                _check(granted)
                pages = [page for page in _pages(person) if _may_publish(page)]
                connections = tuple(_connection(page, granted) for page in pages)
        except (TokenExpired, AccountDisconnected) as error:
            raise CredentialsRejected(error.message) from error
        if not connections:
            raise CredentialsRejected(
                "This login opens no page to which the service may publish.",
                suggested_action="Begin again, choose the pages, and make sure that your role there may create content.",
            )
        return connections

    def _token_for(self, code: str, redirect_uri: str) -> str:
        """The person's long-lived token."""
        named = {"client_id": self.client_id, "client_secret": self.client_secret}
        url = f"{self.api}/oauth/access_token"
        short = exchange(PRODUCT, "GET", url, {**named, "redirect_uri": redirect_uri, "code": code_of(code)})
        given = {"grant_type": "fb_exchange_token", "fb_exchange_token": str(short["access_token"])}
        return str(exchange(PRODUCT, "GET", url, {**named, **given})["access_token"])


def _granted(person: Graph) -> tuple[str, ...]:
    told = entries(person.get("/me/permissions"))
    return tuple(str(each.get("permission")) for each in told if each.get("status") == "granted")


def _check(granted: tuple[str, ...]) -> None:
    if missing := [scope for scope in NEEDED if scope not in granted]:
        raise CredentialsRejected(
            f"The grant lacks what the service needs at Facebook: {', '.join(missing)}.",
            suggested_action="Begin the connection again, and grant everything that Facebook asks for.",
        )


def _pages(person: Graph) -> Iterator[dict[str, Any]]:
    params = {"fields": f"{FIELDS},access_token,tasks", "limit": str(PAGES_AT_ONCE)}
    for _ in range(MAX_LISTS):
        answer = person.get("/me/accounts", params)
        yield from entries(answer)
        after = cursor_after(answer)
        if not after:
            return
        params["after"] = after


def _may_publish(page: dict[str, Any]) -> bool:
    tasks, token = page.get("tasks"), page.get("access_token")
    allowed = not isinstance(tasks, list) or bool(MAY_PUBLISH & set(map(str, tasks)))
    return allowed and isinstance(token, str) and bool(token)


def _connection(page: dict[str, Any], granted: tuple[str, ...]) -> Connection:
    identity = identity_of(page)
    return Connection(identity, Grant({}, {"access_token": page["access_token"]}, identity.external_id), granted)
