"""Sending of notices: each once, grouped, at the right time and to the right people, also after failures."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from pytest_django import DjangoAssertNumQueries

from accounts.models import ConnectedAccount
from accounts.services.tokens import mark_needs_reauth_unless_renewed
from config.api.caller import operator_caller
from config.notices.creation import create_notices_of_next_events
from config.notices.models import NoticeKind
from config.notices.sending import create_and_queue_notices
from config.runtime.tasks import run_retention
from tests import factories
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.notices.rounds import ended, member, real_account, scheduled, send_emails, subjects
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
    create_and_queue_notices()
    clock.shift(timedelta(hours=1))


@pytest.fixture
def bluesky(workspace: Workspace) -> ConnectedAccount:
    return real_account(workspace)


def test_occurrences_within_ten_minutes_are_sent_together(
    api: ApiClient, bluesky: ConnectedAccount, clock: time_machine.Traveller
) -> None:
    groups = [scheduled(api, bluesky) for _ in range(14)]
    ended(groups[0], "failed")
    first = subjects()
    for group in groups[1:]:
        clock.shift(timedelta(seconds=45))
        ended(group, "failed")
    meanwhile = send_emails()
    clock.shift(timedelta(seconds=15))
    [message] = send_emails()

    assert first == ["A post of Workshop failed"]
    assert meanwhile == []
    assert message.subject == "13 posts of Workshop failed or may not be published"
    assert message.body.count("/posts/pgr_") == 10
    assert "\n- and 3 more\n" in message.body


def test_a_problem_that_lasts_for_hours_is_reported_at_growing_intervals(
    api: ApiClient, bluesky: ConnectedAccount, clock: time_machine.Traveller
) -> None:
    group = scheduled(api, bluesky)

    def fails_after(**pause: int) -> int:
        """Return the number of e-mails sent."""
        clock.shift(timedelta(**pause))
        ended(group, "failed")
        return len(send_emails())

    assert fails_after(seconds=0) == 1
    for minutes in (10, 20, 40, 80, 160, 320, 360, 360):
        assert (fails_after(minutes=minutes, seconds=-1), fails_after(seconds=1)) == (0, 1)
    assert fails_after(days=1) == 1
    assert fails_after(minutes=10) == 1  # as at the beginning


def test_a_problem_resolved_before_sending_is_not_reported(
    api: ApiClient, bluesky: ConnectedAccount, agent_client: Any, clock: time_machine.Traveller
) -> None:
    group = scheduled(agent_client(default_mode="requires_confirmation"), bluesky)
    assert confirm(api, group).status_code == 200

    assert send_emails() == []


def test_a_run_without_new_occurrences_needs_few_queries(django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_max_num_queries(43):
        create_and_queue_notices()


def test_each_workspace_and_kind_has_its_own_email(workspace: Workspace, api: ApiClient, bluesky: ConnectedAccount) -> None:
    other = factories.WorkspaceFactory.create(name="Other\r\n\r\nworkshop")
    elsewhere = real_account(other)
    for group in (scheduled(api, bluesky), scheduled(ApiClient(factories.workspace_key(other)), elsewhere)):
        ended(group, "failed")
    mark_needs_reauth_unless_renewed(account_id=bluesky.id, stale=bluesky.decrypted_grant())

    assert {(*message.to, message.subject) for message in send_emails()} == {
        (workspace.owner_user.email, "A post of Workshop failed"),
        (workspace.owner_user.email, "An account of Workshop has to be reconnected"),
        (other.owner_user.email, "A post of Other workshop failed"),
    }


def test_a_worker_that_dies_between_storing_and_sending_loses_nothing(api: ApiClient, bluesky: ConnectedAccount) -> None:
    ended(scheduled(api, bluesky), "failed")
    assert [create_notices_of_next_events(NoticeKind.POST), create_notices_of_next_events(NoticeKind.POST)] == [1, 0]

    assert subjects() == ["A post of Workshop failed"]
    assert send_emails() == []


def test_an_occurrence_committed_late_is_reported(
    api: ApiClient, bluesky: ConnectedAccount, clock: time_machine.Traveller
) -> None:
    group = scheduled(api, bluesky)
    with time_machine.travel(datetime.now(UTC) - timedelta(minutes=4), tick=False):
        ended(group, "failed")

    assert len(send_emails()) == 1


def test_an_error_in_one_workspace_does_not_delay_the_others(
    workspace: Workspace, api: ApiClient, bluesky: ConnectedAccount, clock: time_machine.Traveller
) -> None:
    mark_needs_reauth_unless_renewed(account_id=bluesky.id, stale=bluesky.decrypted_grant())
    ConnectedAccount.objects.update(platform="gone")
    clock.shift(timedelta(seconds=1))
    other = real_account(factories.WorkspaceFactory.create(name="Other"))
    mark_needs_reauth_unless_renewed(account_id=other.id, stale=other.decrypted_grant())
    sent = subjects()
    ConnectedAccount.objects.update(platform="bluesky")
    clock.shift(LATER)

    assert sent == ["An account of Other has to be reconnected"]
    assert subjects() == ["An account of Workshop has to be reconnected"]


@pytest.mark.django_db(transaction=True)
def test_two_concurrent_workers_send_one_email(api: ApiClient, bluesky: ConnectedAccount) -> None:
    ended(scheduled(api, bluesky), "failed")
    in_threads(4, lambda _: create_and_queue_notices())

    assert OutgoingMail.objects.count() == 1


def test_notices_of_a_paused_workspace_are_sent_after_it_is_resumed(
    workspace: Workspace, api: ApiClient, bluesky: ConnectedAccount
) -> None:
    ended(scheduled(api, bluesky), "failed")
    pause_workspace(caller=operator_caller(), workspace_id=workspace.id)
    paused = send_emails()
    Workspace.objects.update(status="active", operator_paused_at=None)

    assert paused == []
    assert subjects() == ["A post of Workshop failed"]


def test_a_deleted_workspace_gets_no_notices(
    workspace: Workspace, api: ApiClient, bluesky: ConnectedAccount, clock: time_machine.Traveller
) -> None:
    ended(scheduled(api, bluesky), "failed")
    create_notices_of_next_events(NoticeKind.POST)
    assert api.delete(f"/workspaces/{workspace.id}").status_code == 200

    assert send_emails() == []
    clock.shift(timedelta(days=31))
    ConnectedAccount.objects.update(status="disconnected")
    run_retention()
    assert not Workspace.objects.filter(pk=workspace.id).exists()


def test_only_active_members_with_a_verified_address_get_notices(
    workspace: Workspace, api: ApiClient, bluesky: ConnectedAccount
) -> None:
    provider = {"identity_issuer": "https://login.example.com"}
    admin = member(workspace, "admin", identity_subject="1", email_verified=True, **provider)
    member(workspace, "admin", identity_subject="2", email_verified=False, **provider)
    member(workspace, "admin", email="")
    member(workspace, "admin", is_active=False)
    member(workspace, "member")
    User.objects.filter(pk=workspace.owner_user_id).update(email="")
    ended(scheduled(api, bluesky), "failed")

    assert [message.to for message in send_emails()] == [[admin.email]]


def test_notices_are_deleted_after_ninety_days(
    workspace: Workspace, bluesky: ConnectedAccount, clock: time_machine.Traveller
) -> None:
    mark_needs_reauth_unless_renewed(account_id=bluesky.id, stale=bluesky.decrypted_grant())
    assert len(send_emails()) == 1
    clock.shift(timedelta(days=91))
    run_retention()

    assert send_emails() == []  # the account still needs a person, and is not reported again
