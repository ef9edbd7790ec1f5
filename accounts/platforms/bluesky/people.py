"""The look-up of people on Bluesky, by the beginning of their handle or name.

The account's own server passes the call on to the network's directory of profiles (AppView). Source: the lexicons
app.bsky.actor.searchActorsTypeahead and app.bsky.actor.defs#profileViewBasic.
"""

from __future__ import annotations

from accounts.platforms.bluesky.session import did_and_handle_or_did_twice
from accounts.platforms.bluesky.xrpc import Xrpc
from accounts.platforms.http.responses import UnreadableAnswer, objects_in, one_line
from accounts.platforms.people import MAX_PEOPLE, Person

SEARCH_METHOD = "app.bsky.actor.searchActorsTypeahead"
INVALID_HANDLE = "handle.invalid"  # shown for an account whose handle does not lead to it, so that it cannot be mentioned


def find_people(server: Xrpc, text: str) -> list[Person]:
    """Look up people on Bluesky: return the accounts that match a text and can be mentioned.

    Raises XrpcError, OutboundError.
    """
    answer = server.query(SEARCH_METHOD, {"q": text, "limit": str(MAX_PEOPLE)})
    if not isinstance(answer.get("actors"), list):
        raise UnreadableAnswer("The response has no list of accounts.")
    people = []
    for actor in objects_in(answer["actors"]):
        try:
            did, handle = did_and_handle_or_did_twice(actor)
        except UnreadableAnswer:  # an account without a valid DID, which cannot be mentioned
            continue
        if handle not in (did, INVALID_HANDLE):
            people.append(Person(f"@{handle}", one_line(actor.get("displayName"))))
    return people[:MAX_PEOPLE]
