"""Tokens as Meta issues them: a short-lived one for a code, a long-lived one for that, and a new one for that again.

The exchanges are alike, their addresses and grant types differ by product. Sources: developers.facebook.com,
facebook-login/guides/advanced/manual-flow, instagram-platform/reference/oauth-authorize, threads/get-started.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from accounts.platforms.errors import (
    AccountDisconnected,
    ConnectionUnavailable,
    CredentialsRejected,
    RateLimited,
    TokenExpired,
    Transient,
)
from accounts.platforms.meta.errors import Product
from accounts.platforms.meta.graph import GraphError, UnreadableAnswer, call, entries
from config.outbound import OutboundError


def exchange(product: Product, method: Literal["GET", "POST"], url: str, fields: Mapping[str, str]) -> dict[str, Any]:
    """Tokens for a code, or long-lived ones for short-lived; `fields` go in the query of a GET and the form of a POST.

    Raises CredentialsRejected (the code or token), ConnectionUnavailable (the operator's app), Transient.
    """
    try:
        return _asked(method, url, fields)
    except (OutboundError, GraphError) as error:
        fault = product.fault(error)
        refused = isinstance(error, GraphError) and error.status < 500 and product.kind_of(error) != "passing"
        if not refused or isinstance(fault, RateLimited | ConnectionUnavailable):
            raise fault from error
        raise CredentialsRejected(
            f"{product.label} does not take this code: it is used, too old, or was not meant for this service.",
            suggested_action="Begin the connection again.",
        ) from error


def renew(product: Product, url: str, fields: Mapping[str, str]) -> dict[str, Any]:
    """A new long-lived token for one that still works. Raises AccountDisconnected only when Meta says that the token has
    ended, Transient otherwise."""
    try:
        with product.faults():
            return _asked("GET", url, fields)
    except TokenExpired as ended:
        raise AccountDisconnected(ended.message) from ended
    except (AccountDisconnected, ConnectionUnavailable) as error:
        raise Transient(f"{product.label} did not renew the access: {error.message}") from error


def code_of(given: str) -> str:
    """The code as it is exchanged: Meta's pages put `#_` behind it, which is no part of it."""
    return given.removesuffix("#_")


def _asked(method: Literal["GET", "POST"], url: str, fields: Mapping[str, str]) -> dict[str, Any]:
    answer = call(method, url, params=fields) if method == "GET" else call(method, url, data=fields)
    if isinstance(answer.get("data"), list):  # Instagram's exchange of codes wraps it
        answer = next(iter(entries(answer)), {})
    token = answer.get("access_token")
    if not isinstance(token, str) or not token:
        raise UnreadableAnswer("The answer holds no token.")
    return answer
