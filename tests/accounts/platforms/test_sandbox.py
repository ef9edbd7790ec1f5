"""The sandbox adapter, which simulates every platform."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.platforms.base import START
from accounts.platforms.errors import (
    ConnectionUnavailable,
    ContentRejected,
    OutcomeUnknown,
    PlatformError,
    RateLimited,
    ReauthRequired,
    Transient,
)
from accounts.platforms.mastodon.adapter import Mastodon
from accounts.platforms.people import Person
from accounts.platforms.registry import PLATFORMS, adapter_or_simulator, get_adapter
from accounts.platforms.sandbox import Sandbox
from accounts.platforms.types import Content, Grant, Identity, Progress, Published

GRANT = Grant(external_id="sandbox-wsp_1")
PUBLISHED = Published("sandbox-tgt_1", "https://sandbox.invalid/mastodon/tgt_1")


def publish(text: str, progress: Progress = START, attempt: int = 1) -> Progress | Published:
    return Sandbox(Mastodon()).publish_step(GRANT, Content("tgt_1", text, attempt=attempt), progress)


@pytest.mark.parametrize("name", PLATFORMS)
def test_the_sandbox_has_the_name_label_and_capabilities_of_its_platform(name: str) -> None:
    sandbox, real = adapter_or_simulator(name, sandbox=True), get_adapter(name)
    assert isinstance(sandbox, Sandbox)
    assert (sandbox.name, sandbox.label) == (real.name, real.label)
    assert sandbox.capabilities is real.capabilities


def test_a_plain_text_is_published_in_one_step_and_again_when_repeated() -> None:
    assert publish("Hello") == PUBLISHED
    assert publish("Hello") == PUBLISHED
    assert Sandbox(Mastodon()).irreversible == frozenset()


@pytest.mark.parametrize("attempt", [1, 7])
@pytest.mark.parametrize(
    ("marker", "fault"),
    [
        ("reject", ContentRejected),
        ("rate_limit", RateLimited),
        ("outage", Transient),
        ("reauth", ReauthRequired),
        ("unknown", OutcomeUnknown),
    ],
)
def test_a_marker_in_the_text_fails_at_every_attempt(marker: str, fault: type[PlatformError], attempt: int) -> None:
    with pytest.raises(fault) as raised:
        publish(f"Hello [sandbox:{marker}] there", attempt=attempt)
    assert type(raised.value) is fault


def test_an_unknown_outcome_is_final() -> None:
    with pytest.raises(OutcomeUnknown) as raised:
        publish("[sandbox:unknown]")
    assert raised.value.final


def test_a_flaky_post_fails_at_the_first_attempt_and_is_published_at_the_second() -> None:
    with pytest.raises(Transient):
        publish("[sandbox:flaky]", attempt=1)
    assert publish("[sandbox:flaky]", attempt=2) == PUBLISHED


@time_machine.travel(datetime(2026, 11, 20, 12, 0, tzinfo=UTC), tick=False)
def test_a_slow_post_is_put_off_for_five_seconds_and_then_published() -> None:
    waiting = publish("[sandbox:slow]")
    assert isinstance(waiting, Progress)
    assert waiting.ready_at == datetime(2026, 11, 20, 12, 0, tzinfo=UTC) + timedelta(seconds=5)
    assert publish("[sandbox:slow]", waiting) == PUBLISHED


def test_the_sandbox_account_is_named_after_workspace_and_platform() -> None:
    sandbox = Sandbox(Mastodon())
    identity = sandbox.identity_for_workspace("wsp_1")
    assert identity == Identity("sandbox-wsp_1", handle="sandbox.mastodon", display_name="Mastodon sandbox")
    assert sandbox.check_and_identify(GRANT) == identity


def test_sandbox_accounts_are_not_connected_renewed_or_revoked() -> None:
    sandbox = Sandbox(Mastodon())
    with pytest.raises(ConnectionUnavailable):
        sandbox.connect_with_credentials({})
    assert sandbox.refresh_grant(GRANT) is GRANT
    sandbox.revoke_grant(GRANT)


def test_the_sandbox_invents_the_person_who_is_looked_up() -> None:
    sandbox = Sandbox(Mastodon())
    assert sandbox.find_people(GRANT, "Ada Löw\n") == [Person("@adalw.sandbox.example", "Ada Löw (invented)")]
    assert sandbox.find_people(GRANT, "ö")[0].mention == "@somebody.sandbox.example"
