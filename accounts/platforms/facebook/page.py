"""Connected Facebook pages, the operator's OAuth app that lists a person's pages, and the codes of Facebook's errors.

A page's token that was read with a person's long-lived token does not expire. It ends with the person's password, role or
consent, and only another login gives a new one. Sources: developers.facebook.com, facebook-login/guides/advanced/manual-flow,
facebook-login/guides/access-tokens/get-long-lived, pages-api/manage-pages, video-api/reference/error-codes; the other codes
are those of posting and of uploads that clients report.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accounts.platforms.errors import CredentialsRejected
from accounts.platforms.facebook.capabilities import NEEDED
from accounts.platforms.http.responses import https_url_or_empty, object_or_empty, one_line
from accounts.platforms.meta.errors import MetaErrorTranslator
from accounts.platforms.meta.graph import Account, Graph, id_of, listed_objects
from accounts.platforms.meta.platform import MetaApplication
from accounts.platforms.types import AuthorizedAccount, Grant, Identity

SITE = "https://www.facebook.com"
FIELDS = "id,name,username,link,picture{url}"  # fields of a page that are requested
PAGE_SIZE, MAX_PAGES = "100", 10  # of the list of a person's pages
PUBLISHING_TASKS = frozenset({"CREATE_CONTENT", "PROFILE_PLUS_CREATE_CONTENT", "PROFILE_PLUS_FULL_CONTROL"})

_PATH = re.compile(r"/[\x21-\x7e]{1,1000}")


class FacebookErrorTranslator(MetaErrorTranslator):
    """The translation of Graph API errors about Facebook pages into exceptions of type PlatformError."""

    name = "facebook"
    label = "Facebook"
    meanings = {
        1346003: "content",  # against the community standards
        1404102: "content",
        1366046: "content",  # a photo of another format, or too large
        1366051: "content",  # the photos were posted already
        1609005: "content",  # the link cannot be read
        1609008: "content",  # a link to Facebook itself
        2061006: "content",  # not a URL
        2069019: "content",  # not a media file
        **dict.fromkeys((1363022, 1363023, 1363031), "content"),  # a video that is too small, too large, or not a video
        6000: "content",  # the video could not be uploaded
        1363042: "permission",  # not allowed to upload here
        1404078: "permission",  # the page has to be authorized to publish
        4854002: "permission",  # its owner has to confirm who they are
        1390008: "rate_limit",  # posting too fast
        **dict.fromkeys((1363019, 1363030, 1363033, 1363047, 1609010), "transient"),
    }


ERRORS = FacebookErrorTranslator()


class FacebookApplication(MetaApplication):
    """The operator's OAuth app at Facebook, which exchanges OAuth codes for tokens and lists the pages of a person."""

    label = "Facebook"
    errors = ERRORS
    needed = NEEDED

    def exchange_code(self, code: str, redirect_uri: str, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Exchange an OAuth code for a person's long-lived Facebook token, with which the person's pages are listed.

        Raises the same errors as `exchange_for_token`.
        """
        params = self.code_params(code, redirect_uri)
        short = self.exchange_for_token("GET", self.token_url, params)
        credentials = {name: params[name] for name in ("client_id", "client_secret")}
        extension = {"grant_type": "fb_exchange_token", "fb_exchange_token": short["access_token"]}
        return self.exchange_for_token("GET", self.token_url, {**credentials, **extension})

    def fetch_page_connections(self, person: Graph) -> tuple[AuthorizedAccount, ...]:
        """List the Facebook pages that the logged-in person may publish to, each as a connection.

        Raises CredentialsRejected (a missing scope, no page), GraphError, NotSent, NoAnswer.
        """
        permissions = listed_objects(person.get("/me/permissions"))
        scopes = tuple(str(each.get("permission")) for each in permissions if each.get("status") == "granted")
        self.check_grant(scopes)
        params = {"fields": f"{FIELDS},access_token,tasks", "limit": PAGE_SIZE}
        pages = person.list_all("/me/accounts", params, max_pages=MAX_PAGES)
        connections = tuple(_connection(page, scopes) for page in pages if _may_publish(page))
        if not connections:
            raise CredentialsRejected(
                "This login opens no page to which the service may publish.",
                suggested_action="Start again, choose the pages, and make sure that your role there may create content.",
            )
        return connections


@dataclass(frozen=True)
class FacebookPage(Account):
    """A connected Facebook page: its id, and the Graph API clients for posts and for videos (`video_graph`)."""

    video_graph: Graph


def identity_of(page: Mapping[str, Any]) -> Identity:
    """Return the identity of a Facebook page from its description in a response. Raises UnreadableAnswer."""
    page_id, name, username = id_of(page), one_line(page.get("name")), one_line(page.get("username"))
    picture = object_or_empty(page.get("picture"))
    return Identity(
        external_id=page_id,
        handle=username or name or page_id,
        display_name=name,
        avatar_url=https_url_or_empty(object_or_empty(picture.get("data", picture)).get("url")),
        profile_url=https_url_or_empty(page.get("link")) or f"{SITE}/{page_id}",
    )


def permalink_or_fallback(address: Any, path: str) -> str:
    """Return the URL of a Facebook page's post or story: the one in Facebook's response, or else `path` at facebook.com."""
    if isinstance(address, str) and _PATH.fullmatch(address) and not address.startswith("//"):
        return f"{SITE}{address}"
    return https_url_or_empty(address) or f"{SITE}/{path}"


def _may_publish(page: Mapping[str, Any]) -> bool:
    tasks, token = page.get("tasks"), page.get("access_token")
    allowed = not isinstance(tasks, list) or bool(PUBLISHING_TASKS & set(map(str, tasks)))
    return allowed and isinstance(token, str) and bool(token)


def _connection(page: Mapping[str, Any], scopes: tuple[str, ...]) -> AuthorizedAccount:
    identity = identity_of(page)
    return AuthorizedAccount(identity, Grant({}, {"access_token": page["access_token"]}, identity.external_id), scopes)
