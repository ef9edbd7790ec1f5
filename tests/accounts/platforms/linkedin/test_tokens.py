from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from pytest_django import Settings

from accounts.platforms.errors import (
    AccountDisconnected,
    ConnectionUnavailable,
    PlatformError,
    RateLimited,
    TokenExpired,
    Transient,
)
from accounts.platforms.linkedin.adapter import LinkedIn
from accounts.platforms.types import Grant
from tests.accounts.platforms.linkedin.scripted_server import ScriptedServer
from tests.accounts.platforms.linkedin.steps import connect
from tests.fakes.http_server import Answer
from tests.fakes.linkedin import FakeLinkedIn
from tests.fakes.linkedin_methods import TOKEN

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
GRANT = Grant(tokens={"access_token": "secret-old", "refresh_token": "secret-refresh"}, external_id="urn:li:person:a")


@pytest.mark.parametrize("kind", ["member", "pages"])
def test_an_access_token_is_good_for_60_days_and_is_renewed_within_a_year_of_the_consent(
    linkedin: LinkedIn, server: FakeLinkedIn, kind: str
) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        grant = connect(linkedin, server, kind)[0].grant
        clock.shift(timedelta(days=60))
        with pytest.raises(TokenExpired):
            linkedin.identify(grant)

        renewed = linkedin.refresh(grant)

        assert linkedin.identify(renewed).external_id == renewed.external_id == grant.external_id
        assert renewed.expires_at == NOW + timedelta(days=120)
        assert renewed.tokens["refresh_token"] == grant.tokens["refresh_token"]
        clock.move_to(NOW + timedelta(days=360))
        assert linkedin.refresh(renewed).expires_at == NOW + timedelta(days=365)
        clock.shift(timedelta(days=6))
        with pytest.raises(AccountDisconnected):
            linkedin.refresh(renewed)


def test_what_the_owner_took_back_is_told_at_the_renewal(
    linkedin: LinkedIn, server: FakeLinkedIn, member: Grant
) -> None:
    server.withdraw("Alice")

    with pytest.raises(TokenExpired):
        linkedin.identify(member)
    with pytest.raises(AccountDisconnected):
        linkedin.refresh(member)


def test_without_a_refresh_token_the_owner_connects_again(linkedin: LinkedIn, server: FakeLinkedIn) -> None:
    server.without_refresh_tokens()
    grant = connect(linkedin, server, "member")[0].grant
    assert set(grant.tokens) == {"access_token", "application"}

    with pytest.raises(AccountDisconnected, match="60 days"):
        linkedin.refresh(grant)
    assert server.requests_to(TOKEN) == 1


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer.of_json({"error": "invalid_grant"}, 400), AccountDisconnected),
        (Answer.of_json({"error": "invalid_request"}, 400), Transient),
        (Answer.of_json({"error": "invalid_client"}, 401), Transient),
        (Answer(429, b"", {"Retry-After": "9"}), RateLimited),
        (Answer(500), Transient),
        (Answer(200, b"<html>"), Transient),
    ],
)
def test_only_linkedins_word_that_the_grant_has_ended_ends_it(
    linkedin: LinkedIn, scripted: ScriptedServer, answer: Answer, fault: type[PlatformError]
) -> None:
    scripted.answers[TOKEN] = answer

    with pytest.raises(PlatformError) as caught:
        linkedin.refresh(GRANT)

    assert type(caught.value) is fault
    assert "secret-" not in f"{caught.value!r} {caught.value.__cause__!r}"


def test_a_refresh_token_is_never_replaced_by_an_empty_one(linkedin: LinkedIn, scripted: ScriptedServer) -> None:
    scripted.answers[TOKEN] = Answer.of_json({"access_token": "new", "refresh_token": "", "expires_in": 60})

    assert linkedin.refresh(GRANT).tokens == {"access_token": "new", "refresh_token": "secret-refresh"}


def test_ending_one_page_leaves_the_others_of_the_login_alone(linkedin: LinkedIn, server: FakeLinkedIn) -> None:
    server.set_role("Alice", "5", "ADMINISTRATOR")
    first, second = (each.grant for each in connect(linkedin, server, "pages"))

    linkedin.revoke(first)

    assert linkedin.identify(second).handle == "5"


def test_a_token_is_renewed_by_the_application_that_it_was_issued_to_alone(
    linkedin: LinkedIn, server: FakeLinkedIn, page: Grant
) -> None:
    with pytest.raises(AccountDisconnected):
        linkedin.refresh(replace(page, tokens={**page.tokens, "application": "member"}))

    assert linkedin.refresh(page).tokens["application"] == "pages"


def test_an_account_of_the_time_of_one_application_is_renewed_by_the_one_for_members(
    linkedin: LinkedIn, server: FakeLinkedIn, member: Grant
) -> None:
    before = replace(member, tokens={name: value for name, value in member.tokens.items() if name != "application"})

    renewed = linkedin.refresh(before)

    assert linkedin.identify(renewed).external_id == member.external_id


def test_an_application_that_is_taken_away_is_the_operators_to_put_back(
    linkedin: LinkedIn, server: FakeLinkedIn, page: Grant, settings: Settings
) -> None:
    """Nothing is sent, so that no word of LinkedIn's ends the account."""
    settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "LINKEDIN_PAGES_CLIENT_ID": ""}
    asked = server.requests_to(TOKEN)

    with pytest.raises(ConnectionUnavailable, match="LINKEDIN_PAGES_CLIENT_ID"):
        linkedin.refresh(page)

    assert server.requests_to(TOKEN) == asked
