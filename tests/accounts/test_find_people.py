"""The look-up of people whom a post can mention: its bounds, its renewal of tokens, and who may ask."""

from __future__ import annotations

from contextlib import suppress

import pytest

from accounts import services
from accounts.models import ConnectedAccount
from accounts.platforms.people import Person
from accounts.services import people
from config.api.caller import Caller
from config.api.errors import ApiError, Forbidden, NotFound, RateLimited, ValidationFailed
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.bluesky_methods import SEARCH_PEOPLE
from workspaces.models import User

REFRESH_SESSION = "com.atproto.server.refreshSession"
ADA = Person("@ada.test", "Ada Lovelace")


@pytest.fixture(autouse=True)
def _ada(pds: FakeBluesky) -> None:
    pds.show_profile(pds.add_account("ada.test", ""), "Ada Lovelace")


def find(user: User, account: ConnectedAccount, text: str = "love") -> list[Person]:
    return services.find_people(caller=Caller("user", user.id), account_id=account.id, text=text)


def test_people_are_found_by_name_or_handle(owner: User, connected: ConnectedAccount) -> None:
    assert find(owner, connected) == find(owner, connected, " @Ada.te ") == [ADA]
    assert find(owner, connected, "nobody") == []


@pytest.mark.parametrize("text", ["", " @ ", "x" * 51])
def test_the_text_has_1_to_50_characters(owner: User, connected: ConnectedAccount, pds: FakeBluesky, text: str) -> None:
    with pytest.raises(ValidationFailed):
        find(owner, connected, text)

    assert pds.requests_to(SEARCH_PEOPLE) == 0


def test_only_writers_of_the_workspace_look_people_up(
    stranger: User, teammate: User, connected: ConnectedAccount, pds: FakeBluesky
) -> None:
    with pytest.raises(NotFound):
        find(stranger, connected)
    with pytest.raises(Forbidden):
        find(teammate, connected)

    assert pds.requests_to(SEARCH_PEOPLE) == 0


def test_expired_tokens_are_renewed_and_stored(owner: User, connected: ConnectedAccount, pds: FakeBluesky) -> None:
    pds.expire_access_tokens()

    assert find(owner, connected) == [ADA]
    assert find(owner, connected) == [ADA]
    assert pds.requests_to(REFRESH_SESSION) == 1


def test_a_platform_that_does_not_answer_is_given_up_and_costs_the_account_nothing(
    owner: User, connected: ConnectedAccount, pds: FakeBluesky, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(people, "LOOKUP_SECONDS", 0.2)
    release = pds.hold_next(SEARCH_PEOPLE)

    with pytest.raises(ApiError) as caught:
        find(owner, connected)
    release.set()

    assert caught.value.code == "PLATFORM_ERROR"
    assert find(owner, connected) == [ADA]


@pytest.mark.parametrize("status", [400, 401, 429, 503])
def test_a_refused_look_up_does_not_disconnect_the_account(
    owner: User, connected: ConnectedAccount, pds: FakeBluesky, status: int
) -> None:
    pds.fail_next(SEARCH_PEOPLE, status)

    with pytest.raises(ApiError):
        find(owner, connected)

    connected.refresh_from_db()
    assert connected.status == "active"


def test_an_account_that_needs_its_owner_is_not_asked(owner: User, connected: ConnectedAccount, pds: FakeBluesky) -> None:
    ConnectedAccount.objects.update(status="needs_reauth")

    with pytest.raises(ApiError):
        find(owner, connected)

    assert pds.requests_to(SEARCH_PEOPLE) == 0


def test_look_ups_are_rate_limited(owner: User, connected: ConnectedAccount, pds: FakeBluesky) -> None:
    """Thirty at once; a slow run may be granted some more, since the allowance is refilled every two seconds."""
    with suppress(RateLimited):
        for _ in range(60):
            find(owner, connected)

    assert 30 <= pds.requests_to(SEARCH_PEOPLE) < 60
