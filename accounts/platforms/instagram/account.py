"""An Instagram account, and what Instagram's own error codes mean.

Source of the codes: developers.facebook.com, instagram-graph-api/reference/error-codes, and for those that it does not
list what clients report.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accounts.platforms.errors import CredentialsRejected
from accounts.platforms.meta.errors import Kind, Product
from accounts.platforms.meta.graph import Graph, UnreadableAnswer, id_of, line
from accounts.platforms.types import Grant, Identity

SITE = "https://www.instagram.com"
FIELDS = "user_id,username,name,account_type,profile_picture_url"

# A container that is no longer there, which one that is made anew puts right.
GONE = frozenset({2207006, 2207008, 2207020})
NOT_READY = 2207027
DAILY = 2207042  # the account's posts of a day are used up
_KINDS: dict[int, Kind] = {
    **dict.fromkeys(GONE, "content"),
    **dict.fromkeys((2207001, 2207003, 2207032, 2207053, 2207076, 2207077, 2207082, NOT_READY), "passing"),
    2207052: "passing",  # the file could not be fetched, which another try often can
    DAILY: "quota",
    2207050: "lost",  # the account is restricted
    **dict.fromkeys((2207004, 2207005, 2207009, 2207010, 2207023, 2207026, 2207028, 2207051, 2207057), "content"),
    -1: "passing",
    -2: "passing",
    9: "quota",
    24: "content",
    25: "lost",
    352: "content",
    9004: "passing",
    9007: "passing",
    **dict.fromkeys((36000, 36001, 36003, 36004), "content"),
}
PRODUCT = Product("instagram", "Instagram", _KINDS)

_USERNAME = re.compile(r"[A-Za-z0-9._]{1,50}")
_ADDRESS = re.compile(r"https://[\x21-\x7e]{1,2000}")


@dataclass(frozen=True)
class Account:
    """A connected account: its id for publishing, and the API with its token."""

    graph: Graph
    id: str

    @classmethod
    def of(cls, grant: Grant, address: str) -> Account:
        """The account that a grant opens, at the API of this address."""
        return cls(Graph(address, grant.tokens["access_token"]), grant.external_id)


def identity(graph: Graph) -> Identity:
    """Whose access token it is. Raises CredentialsRejected (no professional account), GraphError, OutboundError."""
    told = graph.get("/me", {"fields": FIELDS})
    username = told.get("username")
    if not isinstance(username, str) or not _USERNAME.fullmatch(username):
        raise UnreadableAnswer("The answer names no account.")
    if told.get("account_type") == "PERSONAL":
        raise CredentialsRejected(
            "Instagram lets services publish for professional accounts only.",
            suggested_action="Switch the account to a business or creator account, then connect it again.",
        )
    return Identity(
        external_id=id_of(told, "user_id"),
        handle=username,
        display_name=line(told.get("name")),
        avatar_url=address(told.get("profile_picture_url")),
        profile_url=f"{SITE}/{username}/",
    )


def address(value: Any) -> str:
    """An address that Instagram tells; empty for anything else."""
    return value if isinstance(value, str) and _ADDRESS.fullmatch(value) else ""


def permalink_of(media: Mapping[str, Any]) -> str:
    """Where Instagram shows a post; empty where it does not say."""
    return address(media.get("permalink"))
