"""Avatars: the profile pictures of accounts are fetched from the platforms, stored small, and served to members only."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from PIL import Image
from pytest_django import Settings

from accounts import tasks
from accounts.models import Avatar, ConnectedAccount
from accounts.services import disconnect_accounts_of_deleted_workspaces
from tests import factories
from tests.accounts.conftest import HANDLE
from tests.conftest import ApiClient
from tests.fakes.bluesky import GET_PROFILE, FakeBluesky
from tests.fakes.http_server import Answer, ReceivedRequest, observed
from tests.fakes.mastodon import FakeMastodon
from tests.fakes.x import FakeX
from tests.media.pictures import gif, jpeg, png
from tests.pages import Pages
from workspaces.models import User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
WEEK = timedelta(days=7)
PICTURE = "/avatars/0@jpeg"


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """A clock that shows noon until it is moved."""
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def alice(pds: FakeBluesky, connect: Callable[..., Any], api: ApiClient, clock: object) -> ConnectedAccount:
    """The account of Alice, connected at noon; her picture is a wide one."""
    pds.set_profile(HANDLE, "Alice", jpeg(400, 200, colour="crimson", position=True))
    return ConnectedAccount.objects.get(pk=connect(api).json()["account"]["id"])


@pytest.fixture
def pages(workspace: Workspace, owner: User) -> Pages:
    return Pages(workspace, owner)


def picture_of(account: ConnectedAccount) -> bytes:
    return bytes(Avatar.objects.get(account=account).content)


def test_the_picture_of_a_new_account_is_stored_as_a_small_square(alice: ConnectedAccount, pds: FakeBluesky) -> None:
    assert alice.avatar_address == ""
    assert tasks.fetch_due_avatars() == 1
    assert tasks.fetch_due_avatars() == 0

    alice.refresh_from_db()
    content = picture_of(alice)
    with Image.open(io.BytesIO(content)) as picture:
        assert (picture.format, picture.size, len(picture.getexif())) == ("WEBP", (96, 96), 0)
    assert len(content) < 10_000
    assert len(alice.avatar_digest) == 16
    assert alice.avatar.source_url == alice.avatar_url
    assert alice.avatar.fetched_at == NOON
    assert pds.requests_to(GET_PROFILE) == 1  # the address that was read at the connection was used


def test_after_a_week_the_platform_is_asked_for_the_picture_again(
    alice: ConnectedAccount, pds: FakeBluesky, clock: time_machine.Traveller
) -> None:
    tasks.fetch_due_avatars()
    first = picture_of(alice)
    pds.set_profile(HANDLE, "Alice", png(96, 96, colour="gold"))
    clock.shift(WEEK - timedelta(seconds=1))
    assert tasks.fetch_due_avatars() == 0
    pds.expire_access_tokens()
    clock.shift(timedelta(seconds=1))
    assert tasks.fetch_due_avatars() == 1
    assert picture_of(alice) != first

    pds.set_profile(HANDLE, "Alice")  # she has removed it
    clock.shift(WEEK)
    assert tasks.fetch_due_avatars() == 1
    alice.refresh_from_db()
    assert (picture_of(alice), alice.avatar_digest, alice.avatar_url) == (b"", "", "")


@pytest.mark.parametrize(
    "answer",
    [
        Answer(404),
        Answer(200, b"<svg xmlns='http://www.w3.org/2000/svg'/>", {"Content-Type": "image/svg+xml"}),
        Answer(200, png() + bytes(1_000_000), {"Content-Type": "image/png"}),  # too large
        Answer(302, headers={"Location": "http://10.0.0.1/"}),
    ],
)
def test_a_failure_keeps_the_old_picture_and_is_tried_again_after_a_pause_that_grows(
    alice: ConnectedAccount, pds: FakeBluesky, clock: time_machine.Traveller, answer: Answer
) -> None:
    tasks.fetch_due_avatars()
    first = picture_of(alice)
    clock.shift(WEEK)
    pds.refuse_next(PICTURE, answer, 3)
    assert tasks.fetch_due_avatars() == 0
    assert picture_of(alice) == first
    for pause in (600, 1200):
        clock.shift(pause - 1)
        assert tasks.fetch_due_avatars() == 0
        requests = len(pds.requests)
        clock.shift(1)
        assert tasks.fetch_due_avatars() == 0
        assert len(pds.requests) > requests
    clock.shift(2400)
    assert tasks.fetch_due_avatars() == 1


def test_a_profile_that_cannot_be_read_leaves_the_picture(
    alice: ConnectedAccount, pds: FakeBluesky, clock: time_machine.Traveller
) -> None:
    tasks.fetch_due_avatars()
    clock.shift(WEEK)
    pds.fail_next(GET_PROFILE)
    assert tasks.fetch_due_avatars() == 1
    assert picture_of(alice)


def test_a_check_fetches_a_new_picture(alice: ConnectedAccount, pds: FakeBluesky, api: ApiClient) -> None:
    tasks.fetch_due_avatars()
    api.get(f"/accounts/{alice.id}/status")
    assert tasks.fetch_due_avatars() == 0
    pds.set_profile(HANDLE, "Alice", gif())
    shown = api.get(f"/accounts/{alice.id}/status").json()["account"]
    assert tasks.fetch_due_avatars() == 1
    alice.refresh_from_db()
    assert alice.avatar_url == shown["avatar_url"]
    with Image.open(io.BytesIO(picture_of(alice))) as picture:
        assert picture.size == (48, 48)  # small pictures are not enlarged


def test_a_check_schedules_the_picture_of_an_account_that_has_no_row(alice: ConnectedAccount, api: ApiClient) -> None:
    """An account that was connected by the previous release, while processes of both releases were running."""
    Avatar.objects.all().delete()
    api.get(f"/accounts/{alice.id}/status")
    assert tasks.fetch_due_avatars() == 1


def test_one_picture_of_each_workspace_is_fetched_in_a_run(alice: ConnectedAccount, stranger: User) -> None:
    theirs = Workspace.objects.get(owner_user=stranger)
    for workspace in (alice.workspace, theirs):
        account = factories.AccountFactory(
            workspace=workspace, sandbox=False, avatar_url=alice.avatar_url, last_checked_at=NOON
        )
        Avatar.objects.create(account=account, due_at=NOON)
    assert tasks.fetch_due_avatars() == 2
    assert Avatar.objects.filter(fetched_at=NOON, account__workspace=theirs).count() == 1
    assert [tasks.fetch_due_avatars() for _ in range(2)] == [1, 0]


def test_a_picture_of_too_many_pixels_is_not_decoded(alice: ConnectedAccount, pds: FakeBluesky, api: ApiClient) -> None:
    pds.set_profile(HANDLE, "Alice", png(5000, 5000))
    api.get(f"/accounts/{alice.id}/status")
    assert tasks.fetch_due_avatars() == 0


def test_the_picture_of_a_disconnected_account_is_deleted(
    alice: ConnectedAccount, api: ApiClient, workspace: Workspace, connect: Callable[..., Any]
) -> None:
    tasks.fetch_due_avatars()
    api.delete(f"/accounts/{alice.id}")
    alice.refresh_from_db()
    assert (alice.avatar_address, Avatar.objects.count(), tasks.fetch_due_avatars()) == ("", 0, 0)

    connect(api)
    assert tasks.fetch_due_avatars() == 1
    Workspace.objects.update(status="deleted")
    disconnect_accounts_of_deleted_workspaces()
    assert Avatar.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_a_disconnection_during_the_fetch_stores_nothing(alice: ConnectedAccount, api: ApiClient, pds: FakeBluesky) -> None:
    with observed(lambda server, request: api.delete(f"/accounts/{alice.id}") if "/avatars/" in request.path else None):
        tasks.fetch_due_avatars()
    alice.refresh_from_db()
    assert (alice.avatar_digest, Avatar.objects.count()) == ("", 0)


def test_nothing_is_fetched_for_a_disconnected_account(alice: ConnectedAccount, pds: FakeBluesky) -> None:
    """The previous release disconnects an account without deleting its avatar."""
    ConnectedAccount.objects.update(status="disconnected")
    assert tasks.fetch_due_avatars() == 0
    assert pds.requests_to(PICTURE) == 0


@pytest.mark.django_db(transaction=True)
def test_a_row_that_a_disconnection_left_is_deleted_after_the_fetch(alice: ConnectedAccount, pds: FakeBluesky) -> None:
    def disconnect(server: object, request: ReceivedRequest) -> None:
        ConnectedAccount.objects.update(status="disconnected")

    with observed(disconnect):
        tasks.fetch_due_avatars()
    assert Avatar.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_a_new_picture_found_during_the_fetch_is_not_overwritten(
    alice: ConnectedAccount, api: ApiClient, pds: FakeBluesky
) -> None:
    def change_picture(server: object, request: ReceivedRequest) -> None:
        if request.path == PICTURE:
            pds.set_profile(HANDLE, "Alice", gif())
            api.get(f"/accounts/{alice.id}/status")

    with observed(change_picture):
        tasks.fetch_due_avatars()
    tasks.fetch_due_avatars()
    alice.refresh_from_db()
    assert alice.avatar.source_url == alice.avatar_url
    assert not alice.avatar_url.endswith(PICTURE)


def test_mastodons_still_picture_is_fetched(api: ApiClient, connect: Callable[..., Any]) -> None:
    with FakeMastodon() as server:
        token = server.add_account("bob")
        connect(api, platform="mastodon", credentials={"instance": server.url, "access_token": token})
        assert tasks.fetch_due_avatars() == 1
    assert Avatar.objects.get().source_url == f"{server.url}/avatars/static/missing.png"


def test_x_is_not_asked_for_the_address_because_it_bills_reads_of_accounts(
    alice: ConnectedAccount, workspace: Workspace, settings: Settings
) -> None:
    tasks.fetch_due_avatars()
    with FakeX() as server:
        settings.PLATFORM_SETTINGS = {"X_API_BASE": server.url}
        account = factories.AccountFactory(
            workspace=workspace, platform="x", sandbox=False, avatar_url=alice.avatar_url, tokens={"access_token": "t"}
        )
        Avatar.objects.create(account=account, due_at=NOON)
        assert tasks.fetch_due_avatars() == 1
        assert picture_of(account) == picture_of(alice)
        assert not server.requests


def test_sandbox_accounts_have_no_picture(workspace: Workspace, api: ApiClient) -> None:
    sandbox = factories.AccountFactory(workspace=workspace, sandbox=True, avatar_url="https://sandbox.example/a.png")
    api.get(f"/accounts/{sandbox.id}/status")
    assert Avatar.objects.count() == 0


def test_members_get_the_picture_at_an_address_that_browsers_keep(alice: ConnectedAccount, pages: Pages) -> None:
    tasks.fetch_due_avatars()
    alice.refresh_from_db()
    answer = pages.http.get(alice.avatar_address)
    assert (answer.status_code, answer.content) == (200, picture_of(alice))
    assert answer["Content-Type"] == "image/webp"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Cache-Control"] == "private, max-age=31536000, immutable"
    assert answer["Content-Security-Policy"].startswith("default-src 'none'")
    again = pages.http.get(alice.avatar_address, headers={"if-none-match": answer["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_nobody_else_gets_it(alice: ConnectedAccount, pages: Pages, workspace: Workspace, stranger: User) -> None:
    tasks.fetch_due_avatars()
    alice.refresh_from_db()
    theirs = Workspace.objects.get(owner_user=stranger)
    at_theirs = alice.avatar_address.replace(workspace.id, theirs.id)
    assert Pages(workspace, None).http.get(alice.avatar_address).status_code == 302
    assert Pages(theirs, stranger).http.get(alice.avatar_address).status_code == 404
    assert Pages(theirs, stranger).http.get(at_theirs).status_code == 404
    assert pages.http.get(alice.avatar_address.replace(alice.avatar_digest, "0" * 16)).status_code == 404
    assert pages.http.post(alice.avatar_address).status_code == 405


def test_pages_show_the_picture_in_place_of_the_initials(alice: ConnectedAccount, pages: Pages) -> None:
    before = pages.get("compose").content.decode()
    tasks.fetch_due_avatars()
    alice.refresh_from_db()
    image = f'src="{alice.avatar_address}" alt="" width="36" height="36" loading="lazy">'
    assert image not in before
    for page in (pages.get("compose"), pages.get("accounts"), pages.get("account", account_id=alice.id)):
        assert image in page.content.decode()
