"""Facebook Login: exchanges a code for a person's long-lived token, and reads the tokens of the person's pages with it.

A page's token that was read with a long-lived one does not expire. It ends with the person's password, role or consent, and
only another login gives a new one. Sources: developers.facebook.com, facebook-login/guides/advanced/manual-flow,
facebook-login/guides/access-tokens/get-long-lived, pages-api/manage-pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.platforms.errors import CredentialsRejected
from accounts.platforms.facebook.capabilities import NEEDED
from accounts.platforms.facebook.page import ERRORS, FIELDS, identity_of
from accounts.platforms.meta.graph import Graph, entries
from accounts.platforms.meta.tokens import MetaApplication
from accounts.platforms.types import Connection, Grant

PAGE_SIZE, MAX_PAGES = "100", 10  # of the list of a person's Facebook pages
MAY_PUBLISH = frozenset({"CREATE_CONTENT", "PROFILE_PLUS_CREATE_CONTENT", "PROFILE_PLUS_FULL_CONTROL"})


class FacebookApplication(MetaApplication):
    """The operator's app at Facebook, which exchanges codes and reads pages."""

    label = "Facebook"
    errors = ERRORS
    needed = NEEDED

    def exchange(self, code: str, redirect_uri: str, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Exchange a code for the person's long-lived Facebook token. Raises as `exchange_token`."""
        params = self.code_params(code, redirect_uri)
        short = self.exchange_token("GET", self.token_url, params)
        credentials = {name: params[name] for name in ("client_id", "client_secret")}
        extension = {"grant_type": "fb_exchange_token", "fb_exchange_token": short["access_token"]}
        return self.exchange_token("GET", self.token_url, {**credentials, **extension})

    def connections(self, person: Graph) -> tuple[Connection, ...]:
        """The Facebook pages to which the person may publish.

        Raises CredentialsRejected (a missing scope, no page), GraphError, NotSent, NoAnswer.
        """
        permissions = entries(person.get("/me/permissions"))
        scopes = tuple(str(each.get("permission")) for each in permissions if each.get("status") == "granted")
        self.check_granted(scopes)
        params = {"fields": f"{FIELDS},access_token,tasks", "limit": PAGE_SIZE}
        pages = person.list_all("/me/accounts", params, max_pages=MAX_PAGES)
        connections = tuple(_connection(page, scopes) for page in pages if _may_publish(page))
        if not connections:
            raise CredentialsRejected(
                "This login opens no page to which the service may publish.",
                suggested_action="Start again, choose the pages, and make sure that your role there may create content.",
            )
        return connections


def _may_publish(page: Mapping[str, Any]) -> bool:
    tasks, token = page.get("tasks"), page.get("access_token")
    allowed = not isinstance(tasks, list) or bool(MAY_PUBLISH & set(map(str, tasks)))
    return allowed and isinstance(token, str) and bool(token)


def _connection(page: Mapping[str, Any], scopes: tuple[str, ...]) -> Connection:
    identity = identity_of(page)
    return Connection(identity, Grant({}, {"access_token": page["access_token"]}, identity.external_id), scopes)
