"""The look-up of people to mention, at the platforms that have it."""

from __future__ import annotations

import pytest

from accounts.platforms.errors import ConnectionUnavailable, ReauthRequired, TokenExpired, Transient
from accounts.platforms.people import MAX_PEOPLE, Person
from accounts.platforms.registry import all_adapters, get_adapter
from accounts.platforms.types import Grant
from tests.accounts.platforms.contract.broken_calls import (
    altered_answers,
    answer_next,
    calls_of,
    error_of,
    failures,
    secrets_in,
)
from tests.accounts.platforms.contract.world import World
from tests.accounts.platforms.contract.worlds import WORLDS

FINDING = [name for name, world in WORLDS.items() if get_adapter(world.name).capabilities.finds_people]
finding = pytest.mark.parametrize("platform_name", FINDING)
others = pytest.mark.parametrize("platform_name", [name for name in WORLDS if name not in FINDING])


@pytest.fixture(autouse=True)
def _database(db: None) -> None:
    """Adapters may read what the operator has stored."""


@pytest.fixture
def grant(world: World) -> Grant:
    return world.connection().grant


def test_the_platforms_that_document_a_look_up_for_all_applications_have_it() -> None:
    assert [each.name for each in all_adapters() if each.capabilities.finds_people] == ["bluesky", "mastodon"]


@others
def test_other_platforms_have_no_look_up(platform_name: str) -> None:
    with pytest.raises(ConnectionUnavailable):
        get_adapter(WORLDS[platform_name].name).find_people(Grant(), "alice")


@finding
def test_people_are_found_by_a_part_of_their_handle(world: World, grant: Grant) -> None:
    mentions = [world.add_person(f"baker{n}") for n in range(MAX_PEOPLE + 2)]

    found = get_adapter(world.name).find_people(grant, "baker")

    assert [person.mention for person in found] == mentions[:MAX_PEOPLE]
    assert get_adapter(world.name).find_people(grant, "nobody") == []


@finding
def test_each_call_that_fails_when_people_are_looked_up(world: World, grant: Grant) -> None:
    world.add_person("baker")

    def act() -> None:
        get_adapter(world.name).find_people(grant, "baker")

    calls = calls_of(world, act)
    assert len(calls) == 1
    assert list(failures(world, "find_people", act, secrets_in(grant), calls)) == []


@finding
def test_no_answer_brings_harm_into_a_text(world: World, grant: Grant) -> None:
    world.add_person("baker")
    adapter = get_adapter(world.name)

    def act() -> None:
        adapter.find_people(grant, "baker")

    [call] = calls_of(world, act)
    for body in altered_answers(world, call, act):
        answer_next(world, call, body)
        people: list[Person] = []
        error = error_of(lambda found=people: found.extend(adapter.find_people(grant, "baker")), secrets_in(grant))  # type: ignore[misc]
        assert error is None or type(error) is Transient
        for person in people:
            assert person.mention.startswith("@")
            assert person.mention.isprintable()
            assert not set(person.mention) & set(" /\\")
            assert person.display_name.isprintable()
            assert len(person.mention) + len(person.display_name) < 1000


@finding
def test_nobody_is_looked_up_without_access(world: World, grant: Grant) -> None:
    world.add_person("baker")
    world.withdraw()

    with pytest.raises((TokenExpired, ReauthRequired)):
        get_adapter(world.name).find_people(grant, "baker")
