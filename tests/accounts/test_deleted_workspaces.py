"""A periodic task disconnects the accounts of deleted workspaces."""

from __future__ import annotations

import pytest
from cryptography.fernet import Fernet
from pytest_django import Settings

from accounts import tasks
from accounts.models import ConnectedAccount
from accounts.services import disconnect_accounts_of_deleted_workspaces
from tests import factories
from tests.fakes.bluesky import FakeBluesky
from tests.in_threads import in_threads
from workspaces.models import Workspace

DELETE_SESSION = "com.atproto.server.deleteSession"


def test_secrets_are_deleted_and_the_session_is_ended_once(connected: ConnectedAccount, pds: FakeBluesky) -> None:
    other = factories.AccountFactory(credentials={"password": "x"}, tokens={"access": "y"})
    refresh_token = connected.decrypted_grant().tokens["refresh"]
    assert tasks.disconnect_accounts_of_deleted_workspaces() == 0
    Workspace.objects.filter(pk=connected.workspace_id).update(status="deleted")

    assert [tasks.disconnect_accounts_of_deleted_workspaces() for _ in range(2)] == [1, 0]

    stored = ConnectedAccount.objects.filter(pk=connected.pk).values().get()
    assert [stored[name] for name in ("credentials", "tokens", "token_expires_at", "refresh_lease_until")] == [None] * 4
    assert stored["status"] == "disconnected"
    [ended] = [request for request in pds.requests if request.path.endswith(DELETE_SESSION)]
    assert ended.headers["authorization"] == f"Bearer {refresh_token}"
    unchanged = ConnectedAccount.objects.get(pk=other.pk)
    assert (unchanged.status, unchanged.credentials, unchanged.tokens) == ("active", {"password": "x"}, {"access": "y"})


@pytest.mark.parametrize("fault", ["the platform is down", "no key opens them"])
def test_secrets_are_deleted_even_if_they_cannot_be_revoked(
    connected: ConnectedAccount, pds: FakeBluesky, settings: Settings, fault: str
) -> None:
    Workspace.objects.update(status="deleted")
    if fault == "the platform is down":
        pds.fail_next(DELETE_SESSION)
    else:
        settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]

    assert disconnect_accounts_of_deleted_workspaces() == 1

    stored = ConnectedAccount.objects.get()
    assert (stored.status, stored.credentials, stored.tokens) == ("disconnected", None, None)


def test_a_run_handles_a_limited_number_and_the_next_continues(workspace: Workspace) -> None:
    for _ in range(3):
        factories.AccountFactory(workspace=workspace)
    Workspace.objects.update(status="deleted")

    assert [disconnect_accounts_of_deleted_workspaces(limit=2) for _ in range(3)] == [2, 1, 0]


@pytest.mark.django_db(transaction=True)
def test_concurrent_runs_end_a_session_once(connected: ConnectedAccount, pds: FakeBluesky) -> None:
    Workspace.objects.update(status="deleted")

    assert sorted(in_threads(4, lambda _: disconnect_accounts_of_deleted_workspaces())) == [0, 0, 0, 1]
    assert pds.requests_to(DELETE_SESSION) == 1
