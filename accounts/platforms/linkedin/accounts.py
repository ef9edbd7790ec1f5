"""The accounts of one LinkedIn login: the member who logged in, and the pages that the member may post for.

An account is named by its URN, which is also the author of its posts; a member has another one for each application.
Source: learn.microsoft.com/linkedin, Sign In with LinkedIn using OpenID Connect, Profile API and Basic Profile Fields,
Organization Access Control, Organization Lookup; that the development tier of the Community Management API has no BATCH_GET
is what developers report of its access page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from accounts.platforms.http.responses import (
    UnreadableAnswer,
    fetchable_picture_url_or_empty,
    object_or_empty,
    objects_in,
    one_line,
    required_matching_text,
)
from accounts.platforms.linkedin.client import Api, LinkedInError
from accounts.platforms.types import Identity

SITE = "https://www.linkedin.com"
POSTING_ROLES = frozenset({"ADMINISTRATOR", "CONTENT_ADMINISTRATOR", "CONTENT_ADMIN", "DIRECT_SPONSORED_CONTENT_POSTER"})
ROLES_PER_REQUEST = 100
MAX_ROLES = 500  # roles of a member
PAGES_PER_REQUEST = 50
MAX_SINGLE_REQUESTS = 20  # the other pages are shown by their numbers, so that an owner does not wait for minutes

_MEMBER_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
_PAGE = re.compile(r"urn:li:organization:([0-9]{1,20})")
_VANITY_NAME = re.compile(r"[\w-]{1,200}")


def is_page_urn(urn: str) -> bool:
    """Return whether a LinkedIn account's URN is that of a page; otherwise it is a member's."""
    return _PAGE.fullmatch(urn) is not None


def fetch_member(api: Api, *, openid: bool) -> Identity:
    """Return the account of the LinkedIn member who logged in, from OpenID Connect or from the basic profile.

    Raises LinkedInError, NotSent, SentWithoutAnswer.
    """
    member = api.get("/v2/userinfo" if openid else "/v2/me")
    member_id = required_matching_text(member, "sub" if openid else "id", _MEMBER_ID, "member id")
    name = one_line(member.get("name"))
    if not openid:
        name = f"{one_line(member.get('localizedFirstName'))} {one_line(member.get('localizedLastName'))}".strip()
    vanity = one_line(member.get("vanityName"))
    return Identity(
        external_id=f"urn:li:person:{member_id}",
        handle=name or member_id,
        display_name=name,
        avatar_url=fetchable_picture_url_or_empty(member.get("picture")),
        profile_url=f"{SITE}/in/{vanity}" if _VANITY_NAME.fullmatch(vanity) else "",
    )


def fetch_pages(api: Api) -> list[Identity]:
    """Return the accounts of the LinkedIn pages that the member may post for, in LinkedIn's order.

    Raises the same errors as `fetch_member`.
    """
    numbers = list(dict.fromkeys(_page_numbers(api)))
    described = _descriptions(api, numbers)
    return [_page(number, described.get(number)) for number in numbers]


def fetch_page_if_permitted(api: Api, urn: str) -> Identity | None:
    """Return the account of the LinkedIn page with this URN; None if the member may not post for the page.

    Raises the same errors as `fetch_member`.
    """
    number = urn.rpartition(":")[2]
    return _page(number, _description(api, number)) if number in _page_numbers(api) else None


def _descriptions(api: Api, numbers: list[str]) -> dict[str, Any]:
    """Return LinkedIn's descriptions of pages as a dict from page id to description, with as few requests as possible."""
    described: dict[str, Any] = {}
    try:
        for first in range(0, len(numbers), PAGES_PER_REQUEST):
            # The parentheses and commas of Rest.li are not percent-encoded.
            ids = ",".join(numbers[first : first + PAGES_PER_REQUEST])
            results = api.get(f"/rest/organizations?ids=List({ids})").get("results")
            described |= results if isinstance(results, dict) else {}
    except LinkedInError as error:
        if error.status != 403:
            raise
        return {number: _description(api, number) for number in numbers[:MAX_SINGLE_REQUESTS]}
    return described


def _description(api: Api, number: str) -> dict[str, Any]:
    """Return LinkedIn's description of one page; empty if the app may not read it or the page does not exist."""
    try:
        return api.get(f"/rest/organizations/{number}")
    except LinkedInError as error:
        if error.status not in (403, 404):
            raise
        return {}


def _page_numbers(api: Api) -> Iterator[str]:
    for start in range(0, MAX_ROLES, ROLES_PER_REQUEST):
        query = f"q=roleAssignee&state=APPROVED&start={start}&count={ROLES_PER_REQUEST}"
        elements = api.get(f"/rest/organizationAcls?{query}").get("elements")
        if not isinstance(elements, list):
            raise UnreadableAnswer("The answer lists no roles.")
        for each in objects_in(elements):
            if each.get("role") in POSTING_ROLES and each.get("state", "APPROVED") == "APPROVED":
                found = _PAGE.fullmatch(one_line(each.get("organization") or each.get("organizationTarget")))
                if found:
                    yield found[1]
        if len(elements) < ROLES_PER_REQUEST:
            return


def _page(number: str, description: Any) -> Identity:
    shown = object_or_empty(description)
    name, vanity = one_line(shown.get("localizedName")), one_line(shown.get("vanityName"))
    vanity = vanity if _VANITY_NAME.fullmatch(vanity) else ""
    return Identity(
        external_id=f"urn:li:organization:{number}",
        handle=vanity or number,
        display_name=name,
        profile_url=f"{SITE}/company/{vanity or number}",
    )
