"""The client of Facebook's OAuth endpoints, which also lists the pages of the person who logs in.

A page's token that was read with a person's long-lived token does not expire. It ends with the person's password, role or
consent, and only another login gives a new one. Sources: developers.facebook.com, facebook-login/guides/advanced/manual-flow,
facebook-login/guides/access-tokens/get-long-lived, pages-api/manage-pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.errors import CredentialsRejected
from accounts.platforms.facebook.capabilities import REQUIRED_SCOPES
from accounts.platforms.facebook.errors import ERRORS
from accounts.platforms.facebook.page import FIELDS, identity_of
from accounts.platforms.meta.graph import Graph, listed_objects
from accounts.platforms.meta.platform import MetaOAuthClient
from accounts.platforms.types import AuthorizedAccount, Grant

PAGE_SIZE, MAX_PAGES = "100", 10  # of the list of a person's pages
PUBLISHING_TASKS = frozenset({"CREATE_CONTENT", "PROFILE_PLUS_CREATE_CONTENT", "PROFILE_PLUS_FULL_CONTROL"})


class FacebookOAuthClient(MetaOAuthClient):
    """The client of Facebook's OAuth endpoints, with the operator's app; it also lists the pages of a person."""

    label = "Facebook"
    errors = ERRORS
    needed_scopes = REQUIRED_SCOPES

    def exchange_code(self, code: str, redirect_uri: str, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Authorization by the Facebook app: exchange an OAuth code for a short-lived token, and that for a long-lived one.

        Raises the same errors as `exchange_for_token`.
        """
        params = self.code_exchange_params(code, redirect_uri)
        short = self.exchange_for_token("GET", self.token_url, params)
        credentials = {name: params[name] for name in ("client_id", "client_secret")}
        extension = {"grant_type": "fb_exchange_token", "fb_exchange_token": short["access_token"]}
        return self.exchange_for_token("GET", self.token_url, {**credentials, **extension})

    def fetch_page_connections(self, person: Graph) -> tuple[AuthorizedAccount, ...]:
        """Authorization by the Facebook app: list the pages that the logged-in person may publish to, each as a connection.

        Raises CredentialsRejected (a missing scope, no page), GraphError, NotSent, SentWithoutAnswer.
        """
        permissions = listed_objects(person.get("/me/permissions"))
        scopes = tuple(str(each.get("permission")) for each in permissions if each.get("status") == "granted")
        self.check_granted_scopes(scopes)
        params = {"fields": f"{FIELDS},access_token,tasks", "limit": PAGE_SIZE}
        pages = person.iterate_objects("/me/accounts", params, max_pages=MAX_PAGES)
        connections = tuple(_connection(page, scopes) for page in pages if _may_publish(page))
        if not connections:
            raise CredentialsRejected(
                gettext_noop("This login opens no page to which the service may publish."),
                suggested_action=gettext_noop(
                    "Start again, choose the pages, and make sure that your role there may create content."
                ),
            )
        return connections


def _may_publish(page: Mapping[str, Any]) -> bool:
    tasks, token = page.get("tasks"), page.get("access_token")
    allowed = not isinstance(tasks, list) or bool(PUBLISHING_TASKS & set(map(str, tasks)))
    return allowed and isinstance(token, str) and bool(token)


def _connection(page: Mapping[str, Any], scopes: tuple[str, ...]) -> AuthorizedAccount:
    identity = identity_of(page)
    return AuthorizedAccount(identity, Grant({}, {"access_token": page["access_token"]}, identity.external_id), scopes)
