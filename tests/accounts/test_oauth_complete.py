"""GET /accounts/oauth/callback with a valid state: the attached account, and the state afterwards."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from accounts import services
from accounts.errors import OAuthStateInvalid
from accounts.models import ConnectedAccount, ConnectionAttempt
from accounts.services.connection_attempts import exchange_code_once_and_store_choices, find_unexpired_attempt_or_none
from auditlog.models import AuditEntry
from tests.accounts.oauth_calls import CALLBACK, Granted, begin, complete, granted
from tests.accounts.test_connect_input import everything_stored
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.fakes.mastodon import FakeMastodon
from tests.fakes.oauth_platform import ACCOUNTS, EXCHANGE, REVOKE, FakeOAuthPlatform
from tests.in_threads import in_threads
from tests.people import as_user
from workspaces.models import User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)


def test_the_code_connects_the_account(api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform) -> None:
    with time_machine.travel(NOON, tick=False):
        answer = complete(api, granted(api, workspace, provider))

    [account] = ConnectedAccount.objects.all()
    assert answer.status_code == 200
    assert answer.json() == {
        "account": {
            "id": account.id,
            "workspace_id": workspace.id,
            "platform": "pinterest",
            "method": "oauth",
            "sandbox": False,
            "external_id": "id-alice",
            "handle": "alice",
            "display_name": "Alice",
            "avatar_url": "",
            "profile_url": "https://pins.example/alice",
            "status": "active",
            "scopes": ["read", "write"],
            "token_expires_at": "2027-03-10T14:00:00Z",
            "last_checked_at": "2027-03-10T12:00:00Z",
            "created_at": "2027-03-10T12:00:00Z",
            "updated_at": "2027-03-10T12:00:00Z",
        }
    }
    assert set(account.decrypted_grant().tokens.values()) == provider.live_tokens
    assert api.get(f"/accounts/{account.id}/status").json()["account"]["status"] == "active"


def test_an_owner_and_an_agent_complete_the_connections_they_began(
    owner: User, agent_client: Any, workspace: Workspace, provider: FakeOAuthPlatform
) -> None:
    for client in (as_user(owner), agent_client(["accounts.write"])):
        assert complete(client, granted(client, workspace, provider)).status_code == 200
    assert ConnectedAccount.objects.count() == 1


def test_an_account_at_its_own_server_is_connected_by_naming_the_server(api: ApiClient, workspace: Workspace) -> None:
    with FakeMastodon() as mastodon:
        mastodon.add_account("alice")
        begun = begin(api, workspace, platform="mastodon", credentials={"instance": mastodon.url}).json()
        brought = Granted(begun["state"], mastodon.grant(begun["authorization_url"], "alice"))
        account = complete(api, brought).json()["account"]
        tokens = len(mastodon.tokens_of("alice"))
        api.delete(f"/accounts/{account['id']}")

        assert (account["handle"], account["method"]) == (f"alice@127.0.0.1:{mastodon.port}", "oauth")
        assert "write:statuses" in account["scopes"]
        assert len(mastodon.tokens_of("alice")) == tokens - 1


@pytest.mark.parametrize("status", ["active", "needs_reauth", "disconnected"])
def test_connecting_again_updates_the_account_with_the_same_id(
    api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform, oauth_account: ConnectedAccount, status: str
) -> None:
    ConnectedAccount.objects.update(status=status)

    shown = complete(api, granted(api, workspace, provider)).json()["account"]

    assert (shown["id"], shown["status"]) == (oauth_account.id, "active")
    assert ConnectedAccount.objects.get().decrypted_grant() != oauth_account.decrypted_grant()


def test_disconnecting_revokes_and_deletes_the_grant(
    api: ApiClient, provider: FakeOAuthPlatform, oauth_account: ConnectedAccount
) -> None:
    refresh_token = oauth_account.decrypted_grant().tokens["refresh_token"]

    assert api.delete(f"/accounts/{oauth_account.id}").json()["account"]["status"] == "disconnected"

    assert provider.requests_to(REVOKE) == 1
    assert refresh_token not in provider.live_tokens
    account = ConnectedAccount.objects.get()
    assert (account.tokens, account.token_expires_at, account.refresh_at) == (None, None, None)


@pytest.mark.parametrize("call", [EXCHANGE, ACCOUNTS])
def test_while_the_platform_is_unreachable_the_state_stays_usable(
    api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform, call: str
) -> None:
    brought = granted(api, workspace, provider)
    provider.fail_next(call)

    body = assert_envelope(complete(api, brought), 502, "PLATFORM_ERROR")
    assert body["suggested_action"] == "Try again in a minute."

    again = complete(api, brought)
    if call == EXCHANGE:
        assert again.status_code == 200
    else:  # the platform has used the code up, and says so
        assert_envelope(again, 422, "CREDENTIALS_REJECTED")
        assert_envelope(complete(api, brought), 422, "OAUTH_STATE_INVALID")


def test_an_exchange_that_the_platform_refuses_ends_the_state(
    api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform
) -> None:
    brought = granted(api, workspace, provider)

    body = assert_envelope(complete(api, Granted(brought.state, "guessed")), 422, "CREDENTIALS_REJECTED")
    assert body["suggested_action"] == "Start the connection again."
    assert_envelope(complete(api, brought), 422, "OAUTH_STATE_INVALID")
    attempt = ConnectionAttempt.objects.get()
    assert (attempt.stored, attempt.begun, attempt.opened) == (None, None, None)
    assert not ConnectedAccount.objects.exists()


def test_an_owner_without_accounts_there_connects_none(
    api: ApiClient, workspace: Workspace, settings: Any, provider: FakeOAuthPlatform
) -> None:
    with FakeOAuthPlatform() as empty:
        settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "PINTEREST_API_BASE": empty.url}
        body = assert_envelope(complete(api, granted(api, workspace, empty)), 422, "CREDENTIALS_REJECTED")

    assert body["message"] == "This login opens no account that can be connected."


def test_a_dry_run_uses_nothing_up(api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform) -> None:
    brought = granted(api, workspace, provider)

    for _ in range(2):
        body = complete(api, brought, dry_run="true", idempotency_key="one").json()
        assert (body["operation"], body["unchecked"]) == ("accounts.complete_connection", ["code"])
        assert (body["would_create"]["platform"], body["would_create"]["method"]) == ("pinterest", "oauth")
        assert "id" not in body["would_create"]
    assert not provider.requests
    assert not ConnectedAccount.objects.exists()

    assert complete(api, brought, idempotency_key="one").json()["account"]["status"] == "active"


def test_a_repeat_with_its_key_is_a_replay(api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform) -> None:
    brought = granted(api, workspace, provider)
    first = complete(api, brought, idempotency_key="one")
    again = complete(api, brought, idempotency_key="one")

    assert (again["Idempotency-Replayed"], again.json()) == ("true", first.json())
    assert provider.requests_to(EXCHANGE) == 1


@pytest.mark.usefixtures("wide_outside_share")
@pytest.mark.django_db(transaction=True)
def test_of_several_concurrent_calls_with_one_state_one_completes(
    api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform
) -> None:
    brought = granted(api, workspace, provider)

    statuses = sorted(answer.status_code for answer in in_threads(4, lambda _: complete(api, brought)))

    assert statuses[0] == 200
    assert set(statuses[1:]) <= {200, 422}
    assert provider.requests_to(EXCHANGE) == 1
    assert ConnectedAccount.objects.count() == 1


def test_a_caller_who_read_the_state_before_its_use_does_not_exchange_it(
    api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform
) -> None:
    """Two calls have read the row before either of them has used it."""
    brought = granted(api, workspace, provider)
    first, second = find_unexpired_attempt_or_none(brought.state), find_unexpired_attempt_or_none(brought.state)
    assert first
    assert second

    assert len(exchange_code_once_and_store_choices(first, brought.code)) == 1
    with pytest.raises(OAuthStateInvalid):
        exchange_code_once_and_store_choices(second, brought.code)
    assert provider.requests_to(EXCHANGE) == 1


def test_secrets_appear_in_no_table_no_answer_and_no_log(
    api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    provider.add_account("bob")
    brought = granted(api, workspace, provider)
    said = [complete(api, brought, idempotency_key="one"), complete(api, brought, choice="id-bob", idempotency_key="2")]

    assert [answer.status_code for answer in said] == [200, 200]
    written = "".join(answer.content.decode() for answer in said) + caplog.text + everything_stored()
    assert ConnectedAccount.objects.get().id in written
    for secret in (brought.state, brought.code, *provider.live_tokens):
        assert secret not in written


def test_each_completion_writes_an_audit_entry(api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform) -> None:
    provider.add_account("bob")
    brought = granted(api, workspace, provider)
    AuditEntry.objects.all().delete()

    complete(api, brought, dry_run="true")
    complete(api, brought)
    complete(api, brought, choice="id-bob")

    entries = AuditEntry.objects.order_by("pk").values_list("operation", "resource_type", "resource_id", "dry_run")
    attempt, account = ConnectionAttempt.objects.get().id, ConnectedAccount.objects.get().id
    assert list(entries) == [
        ("accounts.complete_connection", "connection_attempt", attempt, True),
        ("accounts.complete_connection", "connection_attempt", attempt, False),
        ("accounts.complete_connection", "account", account, False),
    ]


def test_expired_attempts_are_deleted_with_their_secrets(
    api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform
) -> None:
    with time_machine.travel(NOON) as clock:
        begin(api, workspace)
        assert services.purge_connection_attempts() == 0
        clock.shift(timedelta(minutes=10, seconds=1))
        begin(api, workspace)
        assert services.purge_connection_attempts() == 1
        Workspace.objects.update(status="deleted")
        assert services.purge_connection_attempts() == 1


def test_the_openapi_document_has_both_answers() -> None:
    described = ApiClient().get("/openapi.json").json()
    schemas = described["components"]["schemas"]
    answers = described["paths"][CALLBACK]["get"]["responses"]["200"]["content"]["application/json"]["schema"]["oneOf"]

    forms = [each["$ref"].rpartition("/")[2] for each in schemas[answers[0]["$ref"].rpartition("/")[2]]["oneOf"]]
    assert [set(schemas[form]["properties"]) for form in forms] == [{"account"}, {"choices", "expires_at"}]
