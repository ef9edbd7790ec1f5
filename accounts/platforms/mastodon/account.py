"""Whose account a token opens. Source: docs.joinmastodon.org, accounts/verify_credentials."""

from __future__ import annotations

import re
from typing import Any

from accounts.platforms.mastodon.client import Server, UnreadableAnswer, entity_id, line
from accounts.platforms.mastodon.instance import host, limits
from accounts.platforms.types import Identity

_USERNAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_URL = re.compile(r"https?://[\x21-\x7e]{1,2000}")


def identity(server: Server) -> Identity:
    """The account's identity, with its instance's limits. `external_id` is its id at the server with the server's host:
    names may change, ids do not. Raises MastodonError, OutboundError."""
    account = server.get("/api/v1/accounts/verify_credentials").one()
    username = account.get("username")
    if not isinstance(username, str) or not _USERNAME.fullmatch(username):
        raise UnreadableAnswer("The answer names no account.")
    return Identity(
        external_id=f"{entity_id(account)}@{host(server)}",
        handle=f"{username}@{host(server)}",
        display_name=line(account.get("display_name")),
        avatar_url=url(account.get("avatar")),
        profile_url=url(account.get("url")) or f"{server.address}/@{username}",
        limits=limits(server),
    )


def url(value: Any) -> str:
    """A web address from a server; empty for anything else."""
    return value if isinstance(value, str) and _URL.fullmatch(value) else ""
