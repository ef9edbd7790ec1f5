"""The look-up of people at a Mastodon server: those that the server knows, its own and those of other servers.

The call needs the scope read:accounts. Source: docs.joinmastodon.org, methods/accounts (search) and entities/Account (acct).
"""

from __future__ import annotations

import re

from accounts.platforms.http.responses import one_line
from accounts.platforms.mastodon.client import ServerClient
from accounts.platforms.people import MAX_PEOPLE, Person

SEARCH_PATH = "/api/v1/accounts/search"

_ADDRESS = re.compile(r"[A-Za-z0-9_.-]{1,128}(?:@[\w.:-]{1,253})?")


def find_people(server: ServerClient, text: str) -> list[Person]:
    """Look up people at a Mastodon server: return the accounts that match a text; no other server is asked.

    The mention has a host even for accounts of this server, because the text may be published at others as well. Raises
    MastodonError, OutboundError.
    """
    host = server.address.partition("://")[2]
    people = []
    for account in server.get_list(SEARCH_PATH, {"q": text, "limit": str(MAX_PEOPLE), "resolve": "false"}):
        address = account.get("acct")
        if isinstance(address, str) and _ADDRESS.fullmatch(address):
            full = address if "@" in address else f"{address}@{host}"
            people.append(Person(f"@{full}", one_line(account.get("display_name"))))
    return people[:MAX_PEOPLE]
