"""An account's access while it lasts: it is asked whose it is, renewed, and ended; no passing fault costs it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from pytest_django import Settings

from accounts.platforms.errors import PlatformError, ReauthRequired, TokenExpired, Transient
from accounts.platforms.registry import get_adapter
from accounts.platforms.types import Grant, Identity
from tests.accounts.platforms.contract.broken_calls import (
    altered_answers,
    answer_next,
    assert_harmless,
    calls_of,
    error_of,
    failures,
    secrets_in,
)
from tests.accounts.platforms.contract.world import World
from tests.accounts.platforms.contract.worlds import WORLDS
from tests.fakes.http_server import Answer

RENEWED = [name for name, world in WORLDS.items() if world.renew]
EXPIRING = [name for name, world in WORLDS.items() if world.lives]
ENDED = [name for name, world in WORLDS.items() if world.ends_access]


@pytest.fixture(autouse=True)
def _database(db: None) -> None:
    """Adapters may read what the operator has stored."""


@pytest.fixture
def grant(world: World, clock: Any) -> Grant:
    """A grant that is old enough to be renewed."""
    made = world.connection().grant
    clock.shift(world.renewable_after)
    return made


def test_each_call_that_fails_when_an_account_is_asked_whose_it_is(world: World, grant: Grant) -> None:
    def act() -> None:
        get_adapter(world.name).check_and_identify(grant)

    assert list(failures(world, "identify", act, secrets_in(grant), calls_of(world, act))) == []


def test_no_answer_makes_an_account_another_one_or_brings_harm_into_it(world: World, grant: Grant) -> None:
    adapter = get_adapter(world.name)

    def act() -> None:
        adapter.check_and_identify(grant)

    for call in calls_of(world, act):
        for body in altered_answers(world, call, act) if call not in world.trusted else ():
            answer_next(world, call, body)
            identities: list[Identity] = []
            error = error_of(lambda said=identities: said.append(adapter.check_and_identify(grant)), secrets_in(grant))  # type: ignore[misc]
            assert error is None or type(error) in (Transient, ReauthRequired)
            for identity in identities:
                assert_harmless(identity)
                assert identity.external_id == grant.external_id


@pytest.mark.parametrize("platform_name", [name for name in WORLDS if WORLDS[name].method == "oauth" and name != "slack"])
def test_the_grant_of_another_account_is_refused(world: World, grant: Grant) -> None:
    with pytest.raises(ReauthRequired):
        get_adapter(world.name).check_and_identify(replace(grant, external_id="999"))


def test_access_that_was_taken_away_needs_its_owner(world: World, grant: Grant) -> None:
    world.withdraw()

    with pytest.raises((TokenExpired, ReauthRequired)):
        get_adapter(world.name).check_and_identify(grant)
    with pytest.raises(ReauthRequired):
        get_adapter(world.name).refresh_grant(grant)


@pytest.mark.parametrize("platform_name", RENEWED)
def test_a_renewed_grant_opens_the_same_account_with_new_tokens(world: World, clock: Any) -> None:
    adapter = get_adapter(world.name)
    grant = world.connection().grant
    if world.lives:
        world.expire(clock)
        with pytest.raises(TokenExpired):
            adapter.check_and_identify(grant)
    else:
        clock.shift(world.renewable_after)

    renewed = adapter.refresh_grant(grant)

    assert adapter.check_and_identify(renewed).external_id == renewed.external_id == grant.external_id
    assert set(renewed.tokens) == set(grant.tokens)
    assert renewed.tokens != grant.tokens
    if grant.expires_at:
        assert renewed.expires_at
        assert renewed.expires_at - grant.expires_at >= world.renewable_after
        assert renewed.expires_at > datetime.now(UTC)
    clock.shift(world.renewable_after)
    assert adapter.check_and_identify(adapter.refresh_grant(renewed)).external_id == grant.external_id


@pytest.mark.parametrize("platform_name", RENEWED)
def test_no_passing_fault_of_a_renewal_ends_a_grant(world: World, grant: Grant) -> None:
    def act() -> None:
        get_adapter(world.name).refresh_grant(grant)

    assert list(failures(world, "refresh", act, secrets_in(grant), [world.renew])) == []


@pytest.mark.parametrize("platform_name", RENEWED)
def test_only_the_platforms_word_that_it_has_ended_ends_a_grant(world: World, grant: Grant) -> None:
    """Errors of RFC 6749 (5.2) about the operator's app, and what the platform's API says of limits and of anything new."""
    errors = ("invalid_request", "invalid_client", "unauthorized_client", "unsupported_grant_type", "server_error")
    refusals = [Answer.of_json({"error": error}, 400) for error in errors if error not in world.ending]

    for answer in (*refusals, world.odd(), world.limit(60)):
        world.server.refuse_next(world.renew, answer)
        error = error_of(lambda: get_adapter(world.name).refresh_grant(grant), secrets_in(grant))
        assert isinstance(error, Transient)


@pytest.mark.parametrize("platform_name", RENEWED)
def test_no_answer_to_a_renewal_loses_a_token(world: World, clock: Any) -> None:
    """Each value of the answer is left out, of another type, or hostile."""
    adapter = get_adapter(world.name)

    def connect() -> Grant:
        made = world.connection().grant
        clock.shift(world.renewable_after)
        return made

    first = connect()
    for body in altered_answers(world, world.renew, lambda: adapter.refresh_grant(first)):
        grant = connect()
        answer_next(world, world.renew, body)
        try:
            renewed = adapter.refresh_grant(grant)
        except Transient:
            continue
        for name, value in grant.tokens.items():
            assert isinstance(renewed.tokens[name], type(value))
            assert renewed.tokens[name]
        assert renewed.external_id == grant.external_id


@pytest.mark.parametrize("platform_name", [name for name in RENEWED if WORLDS[name].rotates])
def test_a_refresh_token_is_good_for_one_renewal(world: World, grant: Grant) -> None:
    renewed = get_adapter(world.name).refresh_grant(grant)

    assert renewed.tokens["refresh_token"] != grant.tokens["refresh_token"]
    with pytest.raises(ReauthRequired):
        get_adapter(world.name).refresh_grant(grant)


@pytest.mark.parametrize("platform_name", [name for name in EXPIRING if WORLDS[name].client[0]])
def test_a_wrong_secret_ends_no_grant(world: World, grant: Grant, settings: Settings) -> None:
    settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, f"{world.name.upper()}_CLIENT_SECRET": "wrong"}

    with pytest.raises(PlatformError) as caught:
        get_adapter(world.name).refresh_grant(grant)

    assert type(caught.value) is Transient


@pytest.mark.parametrize("platform_name", [name for name in WORLDS if not WORLDS[name].renew])
def test_where_tokens_are_not_renewed_the_owner_has_to_come(world: World, grant: Grant) -> None:
    with pytest.raises(ReauthRequired):
        get_adapter(world.name).refresh_grant(grant)

    assert get_adapter(world.name).check_and_identify(grant)


def test_disconnecting_ends_the_access_where_that_can_be_done(world: World, grant: Grant) -> None:
    get_adapter(world.name).revoke_grant(grant)

    assert world.is_open(grant) is not world.ends_access
    get_adapter(world.name).revoke_grant(grant)  # it has ended already


@pytest.mark.parametrize("platform_name", ENDED)
def test_each_call_that_fails_when_access_is_ended(world: World, grant: Grant) -> None:
    def act() -> None:
        get_adapter(world.name).revoke_grant(grant)

    assert list(failures(world, "revoke", act, secrets_in(grant), calls_of(world, act))) == []
