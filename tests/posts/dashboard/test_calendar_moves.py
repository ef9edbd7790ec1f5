"""Moving posts in the calendar: whole posts and single entries, what stays where it is, and undo."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest

from accounts.models import ConnectedAccount
from posts.models import PostGroup
from tests.conftest import ApiClient
from tests.people import sign_in_here
from tests.posts.dashboard.dashboard import Dashboard, the_group, words
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, create
from workspaces.models import Member, User, Workspace

EVENING = "2027-03-11T18:00:00Z"


def move(dashboard: Dashboard, group: Any, at: str, when: str, **form: str) -> Any:
    address = f"{dashboard.address('calendar-move', group)}?view=week&date=2027-03-10&at={quote(at)}"
    return dashboard.http.post(address, {"when": when, **form})


def undo(dashboard: Dashboard, answer: Any) -> Any:
    """Press the button "Undo" of the page to which an answer leads."""
    page = dashboard.http.get(answer["location"]).content.decode()
    found = re.search(r'action="([^"]*/undo\?[^"]*)"', page)
    assert found
    return dashboard.http.post(html.unescape(found[1]), headers={"referer": f"http://testserver{answer['location']}"})


def times() -> list[str]:
    """The times of the only post's targets, in their order."""
    return [
        each.scheduled_at.isoformat().replace("+00:00", "Z")
        for each in the_group().targets.order_by("position")
        if each.scheduled_at
    ]


@pytest.fixture
def with_two_times(api: ApiClient, accounts: list[ConnectedAccount]) -> dict[str, Any]:
    own = [{"platform": each.platform, "connected_account_id": each.id} for each in accounts[:2]]
    own[1]["scheduled_at"] = EVENING
    return create(api, accounts[0], targets=own, scheduled_at=TOMORROW)


def test_a_post_is_moved_and_moved_back(dashboard: Dashboard, api: ApiClient, account: ConnectedAccount) -> None:
    group = create(api, account, scheduled_at=TOMORROW)
    answer = move(dashboard, group, TOMORROW, "2027-03-20T15:30")

    assert answer["location"] == f"{dashboard.address('calendar')}?view=week&date=2027-03-10"
    assert times() == ["2027-03-20T15:30:00Z"]
    assert the_group().scheduled_at == datetime(2027, 3, 20, 15, 30, tzinfo=UTC), "The post itself was moved."
    assert "Moved to Saturday, 20 March 2027, 15:30." in words(dashboard.http.get(answer["location"]))

    answer = move(dashboard, group, "2027-03-20T15:30:00Z", "2027-03-21T15:30")
    assert undo(dashboard, answer)["location"] == answer["location"]
    assert times() == ["2027-03-20T15:30:00Z"]
    assert the_group().content_version == 4


def test_one_entry_of_a_post_with_several_times_is_moved(dashboard: Dashboard, with_two_times: dict[str, Any]) -> None:
    answer = move(dashboard, with_two_times, EVENING, "2027-03-12T07:00")
    assert times() == [TOMORROW, "2027-03-12T07:00:00Z"]
    assert "only the 1 account of this entry moved" in words(dashboard.http.get(answer["location"]))
    answer = move(dashboard, with_two_times, TOMORROW, "2027-03-12T07:00")  # both have the same time now
    assert times() == ["2027-03-12T07:00:00Z", "2027-03-12T07:00:00Z"]
    undo(dashboard, answer)
    assert times() == [TOMORROW, "2027-03-12T07:00:00Z"]


def test_the_form_says_what_moves_and_refuses_wrong_times(
    dashboard: Dashboard, api: ApiClient, with_two_times: dict[str, Any]
) -> None:
    page = dashboard.get("calendar-move", with_two_times, at=EVENING)
    assert "Only the 1 account of this entry moves; 1 other keeps the time." in words(page)
    for when, said in (
        ("", "Choose the day and time."),
        ("2027-03-01T09:00", "This time has passed."),
        ("2030-03-01T09:00", "year"),
    ):
        page = move(dashboard, with_two_times, EVENING, when)
        assert (page.status_code, said in words(page)) == (422, True), words(page)
    assert times() == [TOMORROW, EVENING]
    assert dashboard.get("calendar-move", with_two_times, at="nonsense").status_code == 404
    assert move(dashboard, with_two_times, "2027-03-11T10:00:00Z", "2027-03-12T07:00").status_code == 303
    assert times() == [TOMORROW, EVENING]


def test_published_posts_stay_where_they_are(dashboard: Dashboard, api: ApiClient, account: ConnectedAccount) -> None:
    group = create(api, account, scheduled_at="2027-03-10T12:00:00Z")
    run_until_idle()
    page = dashboard.get("calendar").content.decode()
    assert "draggable" not in page
    assert "its time can no longer be changed" in page
    assert "its time can no longer be changed" in words(dashboard.get("calendar-move", group, at="2027-03-10T12:00:00Z"))
    answer = move(dashboard, group, "2027-03-10T12:00:00Z", "2027-03-12T07:00")
    assert "its time can no longer be changed" in words(dashboard.http.get(answer["location"]))
    assert times() == ["2027-03-10T12:00:00Z"]


def test_members_who_only_read_move_nothing(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount, workspace: Workspace
) -> None:
    group = create(api, account, scheduled_at=TOMORROW)
    reader = User.objects.create(display_name="Reader")
    Member.objects.create(workspace=workspace, user=reader, role=Member.Role.MEMBER)
    sign_in_here(dashboard.http, reader)

    assert "draggable" not in dashboard.get("calendar").content.decode()
    assert move(dashboard, group, TOMORROW, "2027-03-12T07:00").status_code == 303
    assert times() == [TOMORROW]


def test_posts_of_other_workspaces_are_not_found(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount, workspace: Workspace
) -> None:
    group = create(api, account, scheduled_at=TOMORROW)
    other = Workspace.objects.create(name="Other", slug="other", owner_user=workspace.owner_user)
    Member.objects.create(workspace=other, user=workspace.owner_user, role=Member.Role.OWNER)
    dashboard.workspace = other

    assert dashboard.get("calendar-move", group, at=TOMORROW).status_code == 404
    move(dashboard, group, TOMORROW, "2027-03-12T07:00")
    assert times() == [TOMORROW]
    assert PostGroup.objects.count() == 1


def test_a_post_takes_the_empty_slot_on_which_it_is_dropped(
    dashboard: Dashboard, api: ApiClient, accounts: list[ConnectedAccount]
) -> None:
    friday = [{"weekday": "fri", "time": "09:00"}]
    ConnectedAccount.objects.filter(pk=accounts[0].id).update(slots=friday, slot_timezone="UTC")
    group = create(api, accounts[0], scheduled_at=TOMORROW)
    page = dashboard.get("calendar", view="week").content.decode()
    assert f"when=2027-03-12T09:00&amp;account={accounts[0].id}" in page
    assert "Empty" not in words(dashboard.get("calendar", view="week", platform=accounts[1].platform))

    move(dashboard, group, TOMORROW, "2027-03-12T09:00", slot_of=accounts[0].id)
    target = the_group().targets.get()
    assert (times(), target.slot) == (["2027-03-12T09:00:00Z"], True)
    assert "Empty" not in words(dashboard.get("calendar", view="week"))

    answer = move(dashboard, group, "2027-03-12T09:00:00Z", "2027-03-13T09:00", slot_of=accounts[0].id)
    target.refresh_from_db()
    assert (target.scheduled_at, target.slot) == (datetime(2027, 3, 13, 9, tzinfo=UTC), False), "Saturday has no slot."
    undo(dashboard, answer)
    target.refresh_from_db()
    assert (times(), target.slot) == (["2027-03-12T09:00:00Z"], True)


def test_a_slot_is_taken_once(dashboard: Dashboard, api: ApiClient, accounts: list[ConnectedAccount]) -> None:
    friday = [{"weekday": "fri", "time": "09:00"}]
    ConnectedAccount.objects.filter(pk=accounts[0].id).update(slots=friday, slot_timezone="UTC")
    first, second = (create(api, accounts[0], text=text, scheduled_at=TOMORROW) for text in ("First", "Second"))
    for group in (first, second):
        move(dashboard, group, TOMORROW, "2027-03-12T09:00", slot_of=accounts[0].id)

    assert PostGroup.objects.get(pk=first["id"]).targets.get().slot
    target = PostGroup.objects.get(pk=second["id"]).targets.get()
    assert (target.slot, target.scheduled_at) == (False, datetime.fromisoformat(TOMORROW))
