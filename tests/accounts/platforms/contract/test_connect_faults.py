"""Errors while connecting an account say who has to act, and contain no secret."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from pytest_django import Settings

from accounts.platforms.errors import ConnectionUnavailable, CredentialsRejected, PlatformError, Transient
from accounts.platforms.registry import get_adapter
from accounts.platforms.types import AuthorizedAccount
from tests.accounts.platforms.contract.broken_calls import (
    altered_answers,
    answer_next,
    assert_harmless,
    calls_of,
    error_of,
    failures,
    secrets_in,
)
from tests.accounts.platforms.contract.world import World, redirect_uri
from tests.accounts.platforms.contract.worlds import WORLDS, world_of

BY_OAUTH = [name for name, world in WORLDS.items() if world.method == "oauth"]
WITH_AN_APP = [name for name, world in WORLDS.items() if world.client[0]]
CHOOSING_SCOPES = [name for name in BY_OAUTH if not WORLDS[name].fixed_scopes]
by_oauth = pytest.mark.parametrize("platform_name", BY_OAUTH)
with_an_app = pytest.mark.parametrize("platform_name", WITH_AN_APP)


@pytest.fixture(autouse=True)
def _database(db: None) -> None:
    """Adapters may read what the operator has stored."""


def secrets_of(world: World) -> list[str]:
    given = world.credentials() if world.method == "credentials" else {}
    secrets = [value for name, value in given.items() if any(word in name for word in ("token", "password", "webhook"))]
    return [*secrets, *filter(None, world.client[1:])]


def authorization(world: World) -> tuple[str, dict[str, Any]]:
    """The address where the owner agrees, and what is stored for the exchange, as a database gives it back."""
    begun = get_adapter(world.name).begin_oauth(state="state-1", redirect_uri=redirect_uri(), given=world.given())
    return begun.url, json.loads(json.dumps(dict(begun.stored)))


def exchange(world: World, code: str, stored: dict[str, Any], uri: str = "") -> AuthorizedAccount:
    return get_adapter(world.name).exchange_code_for_accounts(code=code, redirect_uri=uri or redirect_uri(), stored=stored)[0]


def test_a_connection_says_whose_account_it_is(world: World) -> None:
    connection = world.connection()
    identity, grant = connection.identity, connection.grant

    url = world.server.url
    places = {"url": url, "host": url.partition("://")[2], "id": identity.external_id}
    handle, name, address = (part.format(**places) for part in world.shown)
    assert (identity.handle, identity.display_name, identity.profile_url) == (handle, name, address)
    assert_harmless(identity)
    assert grant.external_id == identity.external_id
    again = get_adapter(world.name).check_and_identify(grant)
    assert (again.external_id, again.handle, again.profile_url) == (identity.external_id, handle, address)
    assert not [secret for secret in [*secrets_in(grant), *secrets_of(world)] if secret in f"{connection!r}"]


def test_each_call_that_fails_at_a_connection(world: World) -> None:
    calls = calls_of(world, world.connection)

    assert list(failures(world, "connect", world.connection, secrets_of(world), calls)) == []


def test_no_answer_brings_harm_into_an_identity(world: World) -> None:
    """Each value of each answer is left out, of another type, or hostile."""
    for call in calls_of(world, world.connection):
        for body in altered_answers(world, call, world.connection) if call not in world.trusted else ():
            answer_next(world, call, body)
            connections: list[AuthorizedAccount] = []
            error = error_of(lambda made=connections: made.append(world.connection()), secrets_of(world))  # type: ignore[misc]
            assert error is None or type(error) in (CredentialsRejected, Transient, ConnectionUnavailable)
            for connection in connections:
                assert_harmless(connection.identity)


@by_oauth
def test_an_authorization_is_bound_to_who_began_it(world: World) -> None:
    (first, stored), (second, other) = authorization(world), authorization(world)

    asked = {name: values[0] for name, values in parse_qs(urlsplit(first).query).items()}
    assert (asked["state"], asked["redirect_uri"]) == ("state-1", redirect_uri())
    secrets = [value for name, value in stored.items() if "verifier" in name or "secret" in name] + [*world.client[1:]]
    assert not [secret for secret in filter(None, secrets) if secret in first]
    if "code_challenge" in asked:
        assert asked["code_challenge"] not in second
        with pytest.raises(CredentialsRejected):
            exchange(world, world.grant(first), other)


@by_oauth
def test_a_code_is_good_for_one_exchange_at_its_address(world: World) -> None:
    url, stored = authorization(world)
    code = world.grant(url)
    exchange(world, code, stored)

    for used in (code, "guessed"):
        error = error_of(lambda used=used: exchange(world, used, stored), [used])  # type: ignore[misc]
        assert type(error) in (CredentialsRejected, world.refused_code)
    code = world.grant(url)
    assert error_of(lambda: exchange(world, code, stored, "https://evil.example/"), [code])


@pytest.mark.parametrize("platform_name", CHOOSING_SCOPES)
def test_a_consent_without_a_needed_scope_is_rejected_by_its_name(
    world: World, platform_name: str, settings: Settings
) -> None:
    [asked] = parse_qs(urlsplit(authorization(world)[0]).query)["scope"]
    scopes = asked.replace(",", " ").split()

    for left_out in scopes:
        with world_of(platform_name, settings) as fresh:  # a later consent may add to what an earlier one gave
            url, stored = authorization(fresh)
            code = fresh.grant(url, [scope for scope in scopes if scope != left_out])
            if left_out in world.optional_scopes:
                assert left_out not in exchange(fresh, code, stored).scopes
            else:
                with pytest.raises(CredentialsRejected) as caught:
                    exchange(fresh, code, stored)
                assert left_out.rpartition("/")[2] in caught.value.message


@with_an_app
def test_without_an_app_nothing_can_be_connected(world: World, settings: Settings) -> None:
    adapter, given = get_adapter(world.name), settings.PLATFORM_SETTINGS
    assert adapter.unavailable_reason("oauth") is None

    for missing in (f"{world.name.upper()}_CLIENT_ID", f"{world.name.upper()}_CLIENT_SECRET"):
        settings.PLATFORM_SETTINGS = {name: value for name, value in given.items() if name != missing}
        reason = adapter.unavailable_reason("oauth") or ""
        assert reason.startswith("The operator of this service has not set ")
        assert missing in reason


@with_an_app
def test_a_wrong_secret_is_the_operators_to_put_right(world: World, settings: Settings) -> None:
    settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, f"{world.name.upper()}_CLIENT_SECRET": "wrong"}

    with pytest.raises(PlatformError) as caught:
        world.connection()

    assert type(caught.value) is ConnectionUnavailable
