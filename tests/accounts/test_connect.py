"""POST /accounts/connect, by credentials."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine

from accounts.models import ConnectedAccount
from accounts.platforms.registry import all_adapters
from tests import factories
from tests.accounts.conftest import APP_PASSWORD, HANDLE
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.fakes.bluesky import FakeBluesky
from tests.in_threads import in_threads
from tests.people import as_user
from workspaces.models import Member, User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
CREATE_SESSION = "com.atproto.server.createSession"
Connect = Callable[..., Any]


def test_good_credentials_connect_the_account(
    api: ApiClient, connect: Connect, pds: FakeBluesky, workspace: Workspace
) -> None:
    with time_machine.travel(NOON, tick=False):
        answer = connect(api, method="credentials")

    [account] = ConnectedAccount.objects.all()
    did = account.external_id
    assert answer.status_code == 200
    assert answer.json() == {
        "account": {
            "id": account.id,
            "workspace_id": workspace.id,
            "platform": "bluesky",
            "method": "credentials",
            "sandbox": False,
            "external_id": did,
            "handle": HANDLE,
            "display_name": "",
            "avatar_url": "",
            "profile_url": f"https://bsky.app/profile/{did}",
            "status": "active",
            "scopes": [],
            "token_expires_at": None,
            "last_checked_at": "2027-03-10T12:00:00Z",
            "created_at": "2027-03-10T12:00:00Z",
            "updated_at": "2027-03-10T12:00:00Z",
        }
    }
    assert did.startswith("did:plc:")
    assert pds.sessions_created == 1


@pytest.mark.parametrize(
    "wrong", [{"app_password": "wrong-wrong-wrong"}, {"identifier": "nobody.test"}], ids=["password", "handle"]
)
def test_wrong_credentials_are_rejected(
    api: ApiClient, connect: Connect, pds: FakeBluesky, caplog: pytest.LogCaptureFixture, wrong: dict[str, str]
) -> None:
    given = {"identifier": HANDLE, "app_password": APP_PASSWORD, "service": pds.url, **wrong}
    answer = connect(api, credentials=given)

    assert_envelope(answer, 422, "CREDENTIALS_REJECTED")
    assert given["app_password"] not in answer.content.decode() + caplog.text
    assert not ConnectedAccount.objects.exists()


def test_an_account_that_was_taken_down_is_not_connected(api: ApiClient, connect: Connect, pds: FakeBluesky) -> None:
    pds.take_down(pds.add_account("gone.test", APP_PASSWORD))
    given = {"identifier": "gone.test", "app_password": APP_PASSWORD, "service": pds.url}

    assert_envelope(connect(api, credentials=given), 422, "CREDENTIALS_REJECTED")
    assert not ConnectedAccount.objects.exists()


@pytest.mark.parametrize(
    "address",
    [
        "https://10.0.0.1",
        "https://169.254.169.254",
        "https://[::1]",
        "https://[::ffff:10.0.0.1]",
        "https://localhost",
        "https://2130706433",
        "https://pds.internal",
        "http://bsky.social",
        "https://user:pass@bsky.social",
        "file:///etc/passwd",
        "nonsense",
        "LOOPBACK",
    ],
)
def test_no_request_is_sent_to_a_private_address(
    api: ApiClient, connect: Connect, pds: FakeBluesky, settings: Any, address: str
) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = False
    given = {"identifier": HANDLE, "app_password": APP_PASSWORD, "service": address.replace("LOOPBACK", pds.url)}

    assert_envelope(connect(api, credentials=given), 422, "CREDENTIALS_REJECTED")
    assert pds.requests == ()
    assert not ConnectedAccount.objects.exists()


def test_a_redirect_to_a_private_address_is_not_followed(api: ApiClient, connect: Connect, pds: FakeBluesky) -> None:
    pds.announce_endpoint("https://10.0.0.1")

    assert_envelope(connect(api), 422, "CREDENTIALS_REJECTED")
    assert not ConnectedAccount.objects.exists()


@pytest.mark.parametrize("fault", ["closed", "503", "dropped", "limited"])
def test_an_unreachable_platform_is_a_platform_error(api: ApiClient, connect: Connect, pds: FakeBluesky, fault: str) -> None:
    given: dict[str, Any] = {}
    if fault == "closed":
        with FakeBluesky() as gone:
            given = {"credentials": {"identifier": HANDLE, "app_password": APP_PASSWORD, "service": gone.url}}
    elif fault == "503":
        pds.fail_next(CREATE_SESSION)
    elif fault == "dropped":
        pds.drop_next(CREATE_SESSION, after_accept=False)
    else:
        pds.rate_limit_next(1)

    assert_envelope(connect(api, **given), 502, "PLATFORM_ERROR")
    assert not ConnectedAccount.objects.exists()


def test_an_unavailable_platform_is_refused(api: ApiClient, connect: Connect) -> None:
    unavailable = [each.name for each in all_adapters() if each.unavailable_reason(each.methods[0])]

    assert unavailable
    for name in unavailable:
        for dry_run in (False, True):
            answer = connect(api, platform=name, dry_run=dry_run)
            assert_envelope(answer, 503, "CONNECTION_UNAVAILABLE")
            assert int(answer["Retry-After"]) > 0
    assert not ConnectedAccount.objects.exists()


def test_connecting_again_updates_the_account_with_the_same_id(
    api: ApiClient, connect: Connect, connected: ConnectedAccount, pds: FakeBluesky
) -> None:
    for status in ("active", "needs_reauth", "disconnected"):
        ConnectedAccount.objects.update(status=status)
        with time_machine.travel(NOON, tick=False):
            shown = connect(api).json()["account"]
        assert (shown["id"], shown["status"]) == (connected.id, "active")
        assert shown["updated_at"] == "2027-03-10T12:00:00Z"

    [renewed] = ConnectedAccount.objects.all()
    assert renewed.decrypted_grant().tokens["refresh"] != connected.decrypted_grant().tokens["refresh"]
    assert renewed.created_at == connected.created_at
    assert pds.sessions_created == 4


def test_the_same_account_in_two_workspaces_is_two_rows(
    api: ApiClient, connect: Connect, connected: ConnectedAccount, stranger: User
) -> None:
    other = stranger.owned_workspaces.get()

    shown = connect(as_user(stranger), workspace_id=other.id).json()["account"]

    assert (shown["workspace_id"], shown["external_id"]) == (other.id, connected.external_id)
    assert shown["id"] != connected.id


@pytest.mark.usefixtures("wide_outside_share")
@pytest.mark.django_db(transaction=True)
def test_concurrent_connections_create_one_account(api: ApiClient, connect: Connect) -> None:
    answers = in_threads(4, lambda _: connect(api))

    assert [answer.status_code for answer in answers] == [200] * 4
    assert {answer.json()["account"]["id"] for answer in answers} == {ConnectedAccount.objects.get().id}


def test_a_repeat_with_its_idempotency_key_does_not_call_the_platform(
    api: ApiClient, connect: Connect, pds: FakeBluesky
) -> None:
    first = connect(api, idempotency_key="one")
    requests = len(pds.requests)
    again = connect(api, idempotency_key="one")

    assert (again.status_code, again["Idempotency-Replayed"], again.json()) == (200, "true", first.json())
    assert len(pds.requests) == requests


def test_a_connection_that_failed_may_be_tried_again_with_its_key(api: ApiClient, connect: Connect) -> None:
    wrong = connect(api, idempotency_key="one", credentials={"identifier": HANDLE})
    right = connect(api, idempotency_key="one")

    assert (wrong.status_code, right.status_code) == (422, 200)
    assert "Idempotency-Replayed" not in right


@pytest.mark.django_db(transaction=True)
def test_concurrent_requests_with_one_idempotency_key_connect_once(
    api: ApiClient, connect: Connect, pds: FakeBluesky
) -> None:
    answers = in_threads(4, lambda _: connect(api, idempotency_key="one"))

    assert [answer.status_code for answer in answers] == [200] * 4
    assert all(answer.json() == answers[0].json() for answer in answers)
    assert pds.sessions_created == 1


def test_connecting_needs_the_scope(
    connect: Connect, pds: FakeBluesky, key_with: Callable[..., ApiClient], agent_client: Callable[..., ApiClient]
) -> None:
    for client in (key_with("accounts.read", "posts.publish"), agent_client(["accounts.read"])):
        assert_envelope(connect(client), 403, "SCOPE_MISSING")
    assert pds.requests == ()

    for client in (key_with("accounts.write"), agent_client(["accounts.write"])):
        assert connect(client).status_code == 200


def test_owners_and_admins_may_connect_and_members_may_not(
    connect: Connect, pds: FakeBluesky, owner: User, teammate: User
) -> None:
    assert_envelope(connect(as_user(teammate)), 403, "FORBIDDEN")
    assert pds.requests == ()
    assert not ConnectedAccount.objects.exists()

    Member.objects.filter(user=teammate).update(role="admin")
    assert [connect(as_user(user)).status_code for user in (owner, teammate)] == [200, 200]


def test_a_foreign_workspace_is_not_found(connect: Connect, pds: FakeBluesky, stranger: User) -> None:
    foreign_key = ApiClient(factories.workspace_key(stranger.owned_workspaces.get()))

    for client in (as_user(stranger), foreign_key):
        details = assert_envelope(connect(client), 422, "VALIDATION_FAILED")["details"]
        assert [(detail["field"], detail["code"]) for detail in details] == [("workspace_id", "not_found")]
    assert_envelope(connect(ApiClient()), 401, "UNAUTHENTICATED")
    assert pds.requests == ()
    assert not ConnectedAccount.objects.exists()


def test_a_paused_workspace_connects_nothing(api: ApiClient, connect: Connect, pds: FakeBluesky) -> None:
    Workspace.objects.update(status="paused")

    assert_envelope(connect(api), 403, "WORKSPACE_PAUSED")
    assert pds.requests == ()
