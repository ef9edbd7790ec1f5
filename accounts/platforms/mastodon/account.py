"""The Mastodon account of an access token. Source: docs.joinmastodon.org, accounts/verify_credentials."""

from __future__ import annotations

import re

from accounts.platforms.http.responses import one_line, text_in
from accounts.platforms.mastodon.client import Server, entity_id, web_url
from accounts.platforms.mastodon.instance import host, limits
from accounts.platforms.types import Identity

_USERNAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")


def identity(server: Server) -> Identity:
    """The Mastodon account's identity and its server's limits. Raises MastodonError, OutboundError.

    `external_id` is the account's id followed by the server's host: names may change, ids do not.
    """
    account = server.get("/api/v1/accounts/verify_credentials")
    username = text_in(account, "username", _USERNAME, "username")
    return Identity(
        external_id=f"{entity_id(account)}@{host(server)}",
        handle=f"{username}@{host(server)}",
        display_name=one_line(account.get("display_name")),
        avatar_url=web_url(account.get("avatar")),
        profile_url=web_url(account.get("url")) or f"{server.address}/@{username}",
        limits=limits(server),
    )
