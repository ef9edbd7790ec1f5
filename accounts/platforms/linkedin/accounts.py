"""The accounts that one login opens at LinkedIn: the member, and the pages that the member may post for.

An account is named by its URN, which is also the author of its posts; a member has another one for each application.
Source: learn.microsoft.com/linkedin, Sign In with LinkedIn using OpenID Connect, Profile API and Basic Profile Fields,
Organization Access Control, Organization Lookup; that the development tier of the Community Management API has no BATCH_GET
is what developers report of its access page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from accounts.platforms.linkedin.client import Api, LinkedInError, UnreadableAnswer, line
from accounts.platforms.types import Identity

SITE = "https://www.linkedin.com"
POSTING_ROLES = frozenset(
    {"ADMINISTRATOR", "CONTENT_ADMINISTRATOR", "CONTENT_ADMIN", "DIRECT_SPONSORED_CONTENT_POSTER"}
)
LISTED_AT_ONCE = 100
MOST_LISTED = 500  # roles of a member
NAMED_AT_ONCE = 50
NAMED_ONE_BY_ONE = 20  # the others are shown by their numbers, so that an owner does not wait for minutes

_MEMBER_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
_PAGE = re.compile(r"urn:li:organization:([0-9]{1,20})")
_PICTURE = re.compile(r"https://[\x21-\x7e]{1,2000}")
_VANITY_NAME = re.compile(r"[\w-]{1,200}")


def is_page(urn: str) -> bool:
    """Whether the account is a page, and not a member."""
    return _PAGE.fullmatch(urn) is not None


def person(api: Api, *, openid: bool) -> Identity:
    """Whose login it is, by `openid` or by r_basicprofile. Raises LinkedInError, NotSent, NoAnswer."""
    told = api.get("/v2/userinfo" if openid else "/v2/me")
    member_id = told.get("sub" if openid else "id")
    if not isinstance(member_id, str) or not _MEMBER_ID.fullmatch(member_id):
        raise UnreadableAnswer("The answer names no member.")
    name = line(told.get("name"))
    if not openid:
        name = f"{line(told.get('localizedFirstName'))} {line(told.get('localizedLastName'))}".strip()
    picture = told.get("picture")  # of userinfo
    vanity = line(told.get("vanityName"))  # of the basic profile, which names its picture by no address
    return Identity(
        external_id=f"urn:li:person:{member_id}",
        handle=name or member_id,
        display_name=name,
        avatar_url=picture if isinstance(picture, str) and _PICTURE.fullmatch(picture) else "",
        profile_url=f"{SITE}/in/{vanity}" if _VANITY_NAME.fullmatch(vanity) else "",
    )


def pages(api: Api) -> list[Identity]:
    """The pages that the member may post for, in LinkedIn's order. Raises as `person`."""
    numbers = list(dict.fromkeys(_page_numbers(api)))
    told = _told_of_pages(api, numbers)
    return [_page(number, told.get(number)) for number in numbers]


def page(api: Api, urn: str) -> Identity | None:
    """The page, if the member may post for it. Raises as `person`."""
    number = urn.rpartition(":")[2]
    return _page(number, _told_of_page(api, number)) if number in _page_numbers(api) else None


def _told_of_pages(api: Api, numbers: list[str]) -> dict[str, Any]:
    """The pages as LinkedIn describes them, by their numbers; it refuses several at once to applications in the
    development tier."""
    told: dict[str, Any] = {}
    try:
        for first in range(0, len(numbers), NAMED_AT_ONCE):
            # The parentheses and commas of Rest.li stay as they are.
            ids = ",".join(numbers[first : first + NAMED_AT_ONCE])
            results = api.get(f"/rest/organizations?ids=List({ids})").get("results")
            told |= results if isinstance(results, dict) else {}
    except LinkedInError as error:
        if error.status != 403:
            raise
        return {number: _told_of_page(api, number) for number in numbers[:NAMED_ONE_BY_ONE]}
    return told


def _told_of_page(api: Api, number: str) -> dict[str, Any]:
    """The page as LinkedIn describes it; empty where LinkedIn does not show it."""
    try:
        return api.get(f"/rest/organizations/{number}")
    except LinkedInError as error:
        if error.status not in (403, 404):
            raise
        return {}


def _page_numbers(api: Api) -> Iterator[str]:
    for start in range(0, MOST_LISTED, LISTED_AT_ONCE):
        query = f"q=roleAssignee&state=APPROVED&start={start}&count={LISTED_AT_ONCE}"
        elements = api.get(f"/rest/organizationAcls?{query}").get("elements")
        if not isinstance(elements, list):
            raise UnreadableAnswer("The answer lists no roles.")
        for each in elements:
            if (
                isinstance(each, dict)
                and each.get("role") in POSTING_ROLES
                and each.get("state", "APPROVED") == "APPROVED"
            ):
                found = _PAGE.fullmatch(line(each.get("organization") or each.get("organizationTarget")))
                if found:
                    yield found[1]
        if len(elements) < LISTED_AT_ONCE:
            return


def _page(number: str, told: Any) -> Identity:
    shown: Mapping[str, Any] = told if isinstance(told, dict) else {}
    name, vanity = line(shown.get("localizedName")), line(shown.get("vanityName"))
    vanity = vanity if _VANITY_NAME.fullmatch(vanity) else ""
    return Identity(
        external_id=f"urn:li:organization:{number}",
        handle=vanity or number,
        display_name=name,
        profile_url=f"{SITE}/company/{vanity or number}",
    )
