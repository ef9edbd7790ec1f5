"""GET /accounts/oauth/callback for a login with several accounts: the caller chooses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts import services
from accounts.models import ConnectedAccount, ConnectionAttempt
from tests.accounts.oauth_calls import Granted, complete, granted
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.fakes.oauth_platform import EXCHANGE, FakeOAuthPlatform
from tests.people import as_user
from workspaces.models import User, Workspace


@pytest.fixture
def brought(api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform) -> Granted:
    provider.add_account("bob")
    return granted(api, workspace, provider)


def test_the_answer_lists_the_accounts_and_attaches_none(
    api: ApiClient, brought: Granted, provider: FakeOAuthPlatform
) -> None:
    with time_machine.travel(datetime.now(UTC), tick=False) as clock:
        clock.shift(timedelta(minutes=9))
        answers = [complete(api, brought) for _ in range(2)]
        in_ten_minutes = datetime.now(UTC) + timedelta(minutes=10)

    assert answers[0].json() == answers[1].json()
    assert answers[0].json() == {
        "choices": [
            {
                "external_id": f"id-{name}",
                "handle": name,
                "display_name": name.capitalize(),
                "avatar_url": "",
                "profile_url": f"https://pins.example/{name}",
            }
            for name in ("alice", "bob")
        ],
        "expires_at": in_ten_minutes.isoformat().replace("+00:00", "Z"),
    }
    assert provider.requests_to(EXCHANGE) == 1
    assert not ConnectedAccount.objects.exists()


def test_each_account_can_be_attached_by_its_own_call(api: ApiClient, brought: Granted, provider: FakeOAuthPlatform) -> None:
    complete(api, brought)
    picked = [complete(api, brought, choice=f"id-{name}").json()["account"] for name in ("bob", "alice", "bob")]

    assert [account["handle"] for account in picked] == ["bob", "alice", "bob"]
    assert picked[0]["id"] == picked[2]["id"]
    assert ConnectedAccount.objects.count() == 2
    assert provider.requests_to(EXCHANGE) == 1


def test_the_choice_may_come_with_the_first_call(api: ApiClient, brought: Granted) -> None:
    assert complete(api, brought, choice="id-bob").json()["account"]["handle"] == "bob"


def test_an_unknown_choice_attaches_nothing_and_uses_nothing_up(api: ApiClient, brought: Granted) -> None:
    for _ in range(2):
        details = assert_envelope(complete(api, brought, choice="id-eve"), 422, "VALIDATION_FAILED")["details"]
        assert [(detail["field"], detail["code"]) for detail in details] == [("choice", "not_found")]
    assert not ConnectedAccount.objects.exists()
    assert complete(api, brought, choice="id-alice").status_code == 200


def test_only_the_same_state_code_and_caller_may_choose(api: ApiClient, brought: Granted, owner: User) -> None:
    complete(api, brought)

    for client, shown in [(api, Granted(brought.state, "another")), (as_user(owner), brought)]:
        for dry_run in ("true", "false"):
            answer = complete(client, shown, choice="id-bob", dry_run=dry_run)
            assert_envelope(answer, 422, "OAUTH_STATE_INVALID")
    assert not ConnectedAccount.objects.exists()


def test_the_choices_expire_after_ten_minutes(api: ApiClient, brought: Granted) -> None:
    with time_machine.travel(datetime.now(UTC)) as clock:
        complete(api, brought)
        clock.shift(timedelta(minutes=10, seconds=1))
        assert_envelope(complete(api, brought, choice="id-bob"), 422, "OAUTH_STATE_INVALID")

        assert services.purge_connection_attempts() == 1
    assert not ConnectionAttempt.objects.exists()
