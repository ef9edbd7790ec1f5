"""Instagram accounts, the operator's app, and the meaning of Instagram's own error codes.

Sources: developers.facebook.com, instagram-platform (business-login, refresh_access_token), and
instagram-graph-api/reference/error-codes; codes that it does not list are those that clients report.
"""

from __future__ import annotations

import re

from accounts.platforms.errors import CredentialsRejected
from accounts.platforms.http.responses import https_url, one_line, text_in
from accounts.platforms.instagram.capabilities import NEEDED
from accounts.platforms.meta.errors import MetaErrors
from accounts.platforms.meta.graph import Graph, id_of
from accounts.platforms.meta.platform import MetaApplication
from accounts.platforms.types import Identity

SITE = "https://www.instagram.com"
FIELDS = "user_id,username,name,account_type,profile_picture_url"

EXPIRED = frozenset({2207006, 2207008, 2207020})  # the container no longer exists, but can be created again
NOT_READY = 2207027
DAILY_LIMIT = 2207042

_USERNAME = re.compile(r"[A-Za-z0-9._]{1,50}")


class InstagramErrors(MetaErrors):
    """Translates Instagram's errors."""

    name = "instagram"
    label = "Instagram"
    meanings = {
        **dict.fromkeys(EXPIRED, "content"),
        **dict.fromkeys((2207001, 2207003, 2207032, 2207053, 2207076, 2207077, 2207082, NOT_READY), "transient"),
        2207052: "transient",  # the file could not be fetched, which may succeed later
        DAILY_LIMIT: "rate_limit",
        2207050: "permission",  # the account is restricted
        **dict.fromkeys((2207004, 2207005, 2207009, 2207010, 2207023, 2207026, 2207028, 2207051, 2207057), "content"),
        -1: "transient",
        -2: "transient",
        9: "rate_limit",
        24: "content",
        25: "permission",
        352: "content",
        9004: "transient",
        9007: "transient",
        **dict.fromkeys((36000, 36001, 36003, 36004), "content"),
    }


ERRORS = InstagramErrors()


class InstagramApplication(MetaApplication):
    """The operator's app at Instagram, with the addresses of its OAuth endpoints."""

    label = "Instagram"
    errors = ERRORS
    grant_prefix = "ig"
    needed = NEEDED


def identity(graph: Graph) -> Identity:
    """The Instagram account of an access token.

    Raises CredentialsRejected (a personal account), GraphError, OutboundError.
    """
    user = graph.get("/me", {"fields": FIELDS})
    username = text_in(user, "username", _USERNAME, "user name")
    if user.get("account_type") == "PERSONAL":
        raise CredentialsRejected(
            "Instagram lets services publish for professional accounts only.",
            suggested_action="Switch the account to a business or creator account, then connect it again.",
        )
    return Identity(
        external_id=id_of(user, "user_id"),
        handle=username,
        display_name=one_line(user.get("name")),
        avatar_url=https_url(user.get("profile_picture_url")),
        profile_url=f"{SITE}/{username}/",
    )
