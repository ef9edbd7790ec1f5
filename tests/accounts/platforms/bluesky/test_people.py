"""People whom a post on Bluesky can mention."""

from __future__ import annotations

import pytest

from accounts.platforms.bluesky.adapter import Bluesky
from accounts.platforms.errors import TokenExpired, Transient
from accounts.platforms.people import Person
from accounts.platforms.types import Grant
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.bluesky_methods import SEARCH_PEOPLE


def test_accounts_whose_handle_does_not_lead_to_them_are_left_out(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    for handle in ("ada.test", "handle.invalid"):
        pds.show_profile(pds.add_account(handle, ""), "Ada Lovelace")

    assert bluesky.find_people(grant, "love") == [Person("@ada.test", "Ada Lovelace")]


def test_an_account_without_a_valid_did_is_left_out(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    dids = [pds.add_account(handle, "") for handle in ("ada.test", "lovelace.test")]
    for did in dids:
        pds.show_profile(did, "Ada Lovelace")
    pds.alter_next(SEARCH_PEOPLE, lambda body: body.replace(dids[0].encode(), b"ada"))

    assert bluesky.find_people(grant, "love") == [Person("@lovelace.test", "Ada Lovelace")]


def test_a_server_without_a_directory_of_profiles_finds_nobody(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    with pytest.raises(Transient):
        bluesky.find_people(grant, "ada")


def test_an_expired_token_is_reported(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    pds.show_profile(pds.add_account("ada.test", ""), "Ada")
    pds.expire_access_tokens()

    with pytest.raises(TokenExpired):
        bluesky.find_people(grant, "ada")
