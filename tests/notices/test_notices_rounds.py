"""Sending of notices: each once, grouped, at the right time and to the right people, also after failures."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from pytest_django import DjangoAssertNumQueries

from accounts.models import ConnectedAccount
from accounts.services.tokens import mark_needs_reauth
from config.api.caller import operator_caller
from config.notices.models import NoticeKind
from config.notices.sending import create_notices, send_notices
from config.runtime.tasks import run_retention
from tests import factories
from tests.at_once import at_once
from tests.conftest import ApiClient
from tests.notices.rounds import ended, member, real_account, scheduled, subjects, told
from tests.posts.calls import confirm
from tests.posts.rows import NOON
from workspaces.models import OutgoingMail, User, Workspace
from workspaces.services import pause_workspace

pytestmark = pytest.mark.django_db
LATER = timedelta(minutes=10)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture(autouse=True)
def begun(clock: time_machine.Traveller) -> None:
    """Create the cursors, as in a service that has been running."""
    send_notices()
    clock.shift(timedelta(hours=1))


@pytest.fixture
def bluesky(workspace: Workspace) -> ConnectedAccount:
    return real_account(workspace)


def test_what_comes_up_within_ten_minutes_is_told_together(
    api: ApiClient, bluesky: ConnectedAccount, clock: time_machine.Traveller
) -> None:
    groups = [scheduled(api, bluesky) for _ in range(14)]
    ended(groups[0], "failed")
    first = subjects()
    for group in groups[1:]:
        clock.shift(timedelta(seconds=45))
        ended(group, "failed")
    meanwhile = told()
    clock.shift(timedelta(seconds=15))
    [message] = told()

    assert first == ["A post of Workshop failed"]
    assert meanwhile == []
    assert message.subject == "13 posts of Workshop failed or may not be published"
    assert message.body.count("/posts/pgr_") == 10
    assert "\n- and 3 more\n" in message.body


def test_what_goes_on_for_hours_is_told_ever_more_rarely(
    api: ApiClient, bluesky: ConnectedAccount, clock: time_machine.Traveller
) -> None:
    group = scheduled(api, bluesky)

    def fails_after(**pause: int) -> int:
        """Return the number of e-mails sent."""
        clock.shift(timedelta(**pause))
        ended(group, "failed")
        return len(told())

    assert fails_after(seconds=0) == 1
    for minutes in (10, 20, 40, 80, 160, 320, 360, 360):
        assert (fails_after(minutes=minutes, seconds=-1), fails_after(seconds=1)) == (0, 1)
    assert fails_after(days=1) == 1
    assert fails_after(minutes=10) == 1  # as at the beginning


def test_what_is_over_by_then_is_not_told(
    api: ApiClient, bluesky: ConnectedAccount, agent_client: Any, clock: time_machine.Traveller
) -> None:
    group = scheduled(agent_client(default_mode="requires_confirmation"), bluesky)
    assert confirm(api, group).status_code == 200

    assert told() == []


def test_a_round_without_news_asks_little(django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_max_num_queries(37):
        send_notices()


def test_each_workspace_and_kind_is_told_apart(workspace: Workspace, api: ApiClient, bluesky: ConnectedAccount) -> None:
    other = factories.WorkspaceFactory.create(name="Other\r\n\r\nworkshop")
    elsewhere = real_account(other)
    for group in (
        scheduled(api, bluesky),
        scheduled(ApiClient(factories.workspace_key(other)), elsewhere),
    ):
        ended(group, "failed")
    mark_needs_reauth(account_id=bluesky.id, stale=bluesky.grant())

    assert {(*message.to, message.subject) for message in told()} == {
        (workspace.owner_user.email, "A post of Workshop failed"),
        (workspace.owner_user.email, "An account of Workshop has to be reconnected"),
        (other.owner_user.email, "A post of Other workshop failed"),
    }


def test_a_worker_that_dies_between_taking_down_and_telling_loses_nothing(
    api: ApiClient, bluesky: ConnectedAccount
) -> None:
    ended(scheduled(api, bluesky), "failed")
    assert [create_notices(NoticeKind.POST), create_notices(NoticeKind.POST)] == [1, 0]

    assert subjects() == ["A post of Workshop failed"]
    assert told() == []


def test_what_was_committed_late_is_told_still(
    api: ApiClient, bluesky: ConnectedAccount, clock: time_machine.Traveller
) -> None:
    group = scheduled(api, bluesky)
    with time_machine.travel(datetime.now(UTC) - timedelta(minutes=4), tick=False):
        ended(group, "failed")

    assert len(told()) == 1


def test_a_fault_at_one_workspace_holds_up_no_other(
    workspace: Workspace, api: ApiClient, bluesky: ConnectedAccount, clock: time_machine.Traveller
) -> None:
    mark_needs_reauth(account_id=bluesky.id, stale=bluesky.grant())
    ConnectedAccount.objects.update(platform="gone")
    clock.shift(timedelta(seconds=1))
    other = real_account(factories.WorkspaceFactory.create(name="Other"))
    mark_needs_reauth(account_id=other.id, stale=other.grant())
    told_of = subjects()
    ConnectedAccount.objects.update(platform="bluesky")
    clock.shift(LATER)

    assert told_of == ["An account of Other has to be reconnected"]
    assert subjects() == ["An account of Workshop has to be reconnected"]


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_tell_it_once(api: ApiClient, bluesky: ConnectedAccount) -> None:
    ended(scheduled(api, bluesky), "failed")
    at_once(4, lambda _: send_notices())

    assert OutgoingMail.objects.count() == 1


def test_a_workspace_that_an_operator_has_paused_is_told_when_it_works_again(
    workspace: Workspace, api: ApiClient, bluesky: ConnectedAccount
) -> None:
    ended(scheduled(api, bluesky), "failed")
    pause_workspace(caller=operator_caller(), workspace_id=workspace.id)
    paused = told()
    Workspace.objects.update(status="active", operator_paused_at=None)

    assert paused == []
    assert subjects() == ["A post of Workshop failed"]


def test_a_deleted_workspace_is_told_nothing(
    workspace: Workspace, api: ApiClient, bluesky: ConnectedAccount, clock: time_machine.Traveller
) -> None:
    ended(scheduled(api, bluesky), "failed")
    create_notices(NoticeKind.POST)
    assert api.delete(f"/workspaces/{workspace.id}").status_code == 200

    assert told() == []
    clock.shift(timedelta(days=31))
    ConnectedAccount.objects.update(status="disconnected")
    run_retention()
    assert not Workspace.objects.filter(pk=workspace.id).exists()


def test_who_can_be_reached(workspace: Workspace, api: ApiClient, bluesky: ConnectedAccount) -> None:
    provider = {"identity_issuer": "https://login.example.com"}
    admin = member(workspace, "admin", identity_subject="1", email_verified=True, **provider)
    member(workspace, "admin", identity_subject="2", email_verified=False, **provider)
    member(workspace, "admin", email="")
    member(workspace, "admin", is_active=False)
    member(workspace, "member")
    User.objects.filter(pk=workspace.owner_user_id).update(email="")
    ended(scheduled(api, bluesky), "failed")

    assert [message.to for message in told()] == [[admin.email]]


def test_notices_go_after_ninety_days(
    workspace: Workspace, bluesky: ConnectedAccount, clock: time_machine.Traveller
) -> None:
    mark_needs_reauth(account_id=bluesky.id, stale=bluesky.grant())
    assert len(told()) == 1
    clock.shift(timedelta(days=91))
    run_retention()

    assert told() == []  # the account still waits, and is not told of again
