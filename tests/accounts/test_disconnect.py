"""DELETE /accounts/{id}."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from cryptography.fernet import Fernet
from pytest_django import Settings

from accounts.models import ConnectedAccount
from config.db.ids import new_id
from tests import factories
from tests.accounts.conftest import HANDLE
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.fakes.bluesky import FakeBluesky
from tests.people import as_user
from workspaces.models import User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
DELETE_SESSION = "com.atproto.server.deleteSession"


def disconnect(client: ApiClient, account: ConnectedAccount, body: Any = None, **headers: str) -> Any:
    return client.delete(f"/accounts/{account.id}", body, **headers)


def is_unchanged(account: ConnectedAccount) -> bool:
    """Return whether the account is unchanged."""
    now = ConnectedAccount.objects.get(pk=account.pk)
    return (now.status, now.tokens, now.credentials) == ("active", account.tokens, account.credentials)


def test_disconnecting_deletes_the_secrets_and_ends_the_session(
    api: ApiClient, connected: ConnectedAccount, pds: FakeBluesky
) -> None:
    refresh_token = connected.decrypted_grant().tokens["refresh"]
    with time_machine.travel(NOON, tick=False):
        answer = disconnect(api, connected)

    stored = ConnectedAccount.objects.get()
    assert answer.status_code == 200
    assert answer.json() == {
        "account": {
            "id": connected.id,
            "workspace_id": connected.workspace_id,
            "platform": "bluesky",
            "method": "credentials",
            "sandbox": False,
            "external_id": connected.external_id,
            "handle": HANDLE,
            "display_name": "",
            "avatar_url": "",
            "profile_url": connected.profile_url,
            "status": "disconnected",
            "scopes": [],
            "token_expires_at": None,
            "last_checked_at": answer.json()["account"]["last_checked_at"],
            "created_at": connected.created_at.isoformat().replace("+00:00", "Z"),
            "updated_at": "2027-03-10T12:00:00Z",
        }
    }
    assert (stored.status, stored.tokens, stored.credentials) == ("disconnected", None, None)
    [ended] = [request for request in pds.requests if request.path.endswith(DELETE_SESSION)]
    assert ended.headers["authorization"] == f"Bearer {refresh_token}"


def test_disconnecting_again_returns_the_account_without_calling_the_platform(
    api: ApiClient, connected: ConnectedAccount, pds: FakeBluesky
) -> None:
    first = disconnect(api, connected)
    again = disconnect(api, connected)

    assert (again.status_code, again.json()) == (200, first.json())
    assert pds.requests_to(DELETE_SESSION) == 1


def test_an_agent_disconnects_only_accounts_that_it_may_use(
    connected: ConnectedAccount, account: ConnectedAccount, agent_client: Any, pds: FakeBluesky
) -> None:
    narrow = agent_client(account_allowlist=[account.id])

    for body in (None, {"dry_run": True}):
        assert_envelope(disconnect(narrow, connected, body), 403, "ACCOUNT_NOT_ALLOWED")
    assert is_unchanged(connected)
    assert pds.requests_to(DELETE_SESSION) == 0
    assert disconnect(agent_client(account_allowlist=[connected.id]), connected).status_code == 200


@pytest.mark.parametrize("fault", ["503", "dropped", "closed"])
def test_an_unreachable_platform_does_not_prevent_the_disconnection(
    api: ApiClient, connected: ConnectedAccount, pds: FakeBluesky, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    if fault == "503":
        pds.fail_next(DELETE_SESSION)
    elif fault == "dropped":
        pds.drop_next(DELETE_SESSION)
    else:
        with FakeBluesky() as gone:
            connected.credentials = {**connected.decrypted_grant().credentials, "service": gone.url}
        connected.save()

    assert disconnect(api, connected).json()["account"]["status"] == "disconnected"
    assert ConnectedAccount.objects.get().tokens is None
    assert f"{connected.id} was disconnected, but not revoked" in caplog.text


def test_secrets_that_no_key_decrypts_are_deleted_too(
    api: ApiClient, connected: ConnectedAccount, pds: FakeBluesky, settings: Settings
) -> None:
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]

    preview, answer = disconnect(api, connected, {"dry_run": True}), disconnect(api, connected)

    assert (preview.status_code, preview.json()["would_update"]["status"]) == (200, "disconnected")
    assert (answer.status_code, answer.json()["account"]["status"]) == (200, "disconnected")
    stored = ConnectedAccount.objects.get()
    assert (stored.status, stored.tokens, stored.credentials) == ("disconnected", None, None)
    assert pds.requests_to(DELETE_SESSION) == 0


def test_a_sandbox_account_can_be_disconnected(api: ApiClient, account: ConnectedAccount) -> None:
    assert disconnect(api, account).json()["account"]["status"] == "disconnected"


@pytest.mark.parametrize("where", ["body", "query"])
def test_a_dry_run_returns_the_account_and_disconnects_nothing(
    api: ApiClient, connected: ConnectedAccount, pds: FakeBluesky, where: str
) -> None:
    if where == "body":
        answer = disconnect(api, connected, {"dry_run": True})
    else:
        answer = api.delete(f"/accounts/{connected.id}?dry_run=true")

    body = answer.json()
    assert (answer.status_code, set(body)) == (200, {"dry_run", "operation", "request", "plan_hash", "would_update"})
    assert (body["dry_run"], body["operation"], body["request"]) == (True, "accounts.disconnect", {})
    assert (body["would_update"]["id"], body["would_update"]["status"]) == (connected.id, "disconnected")
    assert is_unchanged(connected)
    assert pds.requests_to(DELETE_SESSION) == 0


def test_a_repeat_with_its_idempotency_key_is_a_replay(api: ApiClient, connected: ConnectedAccount, pds: FakeBluesky) -> None:
    first = disconnect(api, connected, idempotency_key="one")
    again = disconnect(api, connected, idempotency_key="one")

    assert (again.status_code, again["Idempotency-Replayed"], again.json()) == (200, "true", first.json())
    assert pds.requests_to(DELETE_SESSION) == 1


def test_a_caller_without_permission_disconnects_nothing(
    connected: ConnectedAccount, pds: FakeBluesky, teammate: User, key_with: Callable[..., ApiClient]
) -> None:
    assert_envelope(disconnect(as_user(teammate), connected), 403, "FORBIDDEN")
    assert_envelope(disconnect(key_with("accounts.read", "posts.publish"), connected), 403, "SCOPE_MISSING")
    assert_envelope(disconnect(ApiClient(), connected), 401, "UNAUTHENTICATED")

    assert is_unchanged(connected)
    assert pds.requests_to(DELETE_SESSION) == 0


def test_the_owner_and_an_agent_with_the_scope_may_disconnect(
    owner: User, account: ConnectedAccount, agent_client: Callable[..., ApiClient]
) -> None:
    other = factories.AccountFactory(workspace=account.workspace)

    assert disconnect(as_user(owner), account).status_code == 200
    assert disconnect(agent_client(["accounts.write"]), other).status_code == 200


def test_foreign_missing_and_malformed_ids_get_the_same_answer(
    connected: ConnectedAccount, pds: FakeBluesky, stranger: User
) -> None:
    foreign_key = ApiClient(factories.workspace_key(stranger.owned_workspaces.get()))
    asked = [connected, *(ConnectedAccount(id=one) for one in (new_id("acc"), "acc_1", "%F0%9F%90%A6"))]

    for client in (as_user(stranger), foreign_key):
        bodies = [assert_envelope(disconnect(client, one), 404, "NOT_FOUND") | {"trace_id": ""} for one in asked]
        assert all(body == bodies[0] for body in bodies)
    assert is_unchanged(connected)
    assert pds.requests_to(DELETE_SESSION) == 0


def test_a_paused_workspace_disconnects_nothing(api: ApiClient, connected: ConnectedAccount) -> None:
    Workspace.objects.update(status="paused")

    assert_envelope(disconnect(api, connected), 403, "WORKSPACE_PAUSED")
    assert is_unchanged(connected)
