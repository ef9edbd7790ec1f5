"""Dashboard pages of posts that are published to their accounts at different times."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from posts.models import PostGroup
from tests.conftest import ApiClient
from tests.posts.dashboard.dashboard import Dashboard, the_group, words
from tests.posts.dashboard.offers import offer_after, undo
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import body_for, read

EVENING, NEXT_DAY = "2027-03-11T18:00:00Z", "2027-03-12T08:00:00Z"


@pytest.fixture
def staggered(dashboard: Dashboard, api: ApiClient, accounts: list[ConnectedAccount]) -> dict[str, Any]:
    body = body_for(*accounts[:2])
    for target, at in zip(body["targets"], (EVENING, NEXT_DAY), strict=True):
        target["scheduled_at"] = at
    return dict(api.post("/posts", body).json()["post_group"])


def times_of(group: PostGroup) -> list[str]:
    return [f"{target.scheduled_at:%d %H:%M}" for target in group.targets.order_by("position") if target.scheduled_at]


def test_the_calendar_and_the_home_page_show_each_day(dashboard: Dashboard, staggered: dict[str, Any]) -> None:
    for view in ("month", "week"):
        page = dashboard.get("calendar", view=view, date="2027-03-11").content.decode()
        assert page.count(f'/posts/{staggered["id"]}"') == 2
    for day, time in (("2027-03-11", "18:00"), ("2027-03-12", "08:00")):
        assert f"Move the post of {time}" in words(dashboard.get("calendar", view="day", date=day))
    assert "11 Mar, 18:00" in words(dashboard.get("home"))


def test_the_post_page_shows_the_time_of_each_account(dashboard: Dashboard, staggered: dict[str, Any]) -> None:
    page = words(dashboard.get("post", staggered))

    assert "Thursday, 11 March 2027, 18:00 , first; each account has its time below" in page
    assert "Scheduled for Friday, 12 March 2027, 08:00" in page
    assert "Reschedule" not in page  # it would move neither


def test_the_accounts_that_have_not_begun_are_cancelled_on_the_post_page(
    dashboard: Dashboard, api: ApiClient, staggered: dict[str, Any], clock: Any
) -> None:
    clock.move_to(EVENING)
    run_until_idle()
    assert "Cancel the other accounts" in words(dashboard.get("post", staggered))

    dashboard.post("post-cancel", staggered)

    assert [each["status"] for each in read(api, staggered)["targets"]] == ["published", "cancelled"]
    assert "cancelled for the accounts where it had not begun" in words(dashboard.get("post", staggered))
    assert "Cancel the other accounts" not in words(dashboard.get("post", staggered))


def test_the_composer_gives_accounts_their_own_times(dashboard: Dashboard, accounts: list[ConnectedAccount]) -> None:
    first, second, _ = accounts
    asked = dashboard.compose("times", first, second).content.decode()
    assert f'name="time-{first.id}-when"' in asked

    own = {f"time-{second.id}-when": "2027-03-12T08:00", f"time-{first.id}-when": ""}
    dashboard.compose("schedule", first, second, when="2027-03-11T18:00", extra=own)

    group = the_group()
    assert (group.status, times_of(group)) == ("scheduled", ["11 18:00", "12 08:00"])
    edit = dashboard.get("post-edit", group).content.decode()
    assert 'value="2027-03-12T08:00"' in edit
    extra = {**own, "content_version": "1", "key": "edit-key-of-16-characters"}
    dashboard.compose("schedule", first, second, group=group, when="2027-03-11T20:00", extra=extra)
    assert times_of(the_group()) == ["11 20:00", "12 08:00"]


def test_the_composer_needs_no_common_time_if_each_account_has_its_own(
    dashboard: Dashboard, accounts: list[ConnectedAccount]
) -> None:
    own = {f"time-{account.id}-when": f"2027-03-1{day}T08:00" for day, account in enumerate(accounts, 1)}

    assert "Choose the day and time." in words(dashboard.compose("schedule", *accounts[:2]))
    dashboard.compose("schedule", *accounts, extra=own)

    assert times_of(the_group()) == ["11 08:00", "12 08:00", "13 08:00"]


def test_publishing_now_is_refused_if_each_account_has_its_own_time(
    dashboard: Dashboard, accounts: list[ConnectedAccount]
) -> None:
    own = {f"time-{account.id}-when": "2027-03-11T08:00" for account in accounts[:2]}

    page = dashboard.compose("publish", *accounts[:2], extra=own)

    assert "Nothing was published, because each account has its own time." in words(page)
    assert not PostGroup.objects.exists()


@pytest.mark.parametrize(
    ("entered", "message"),
    [
        ("2027-03-09T08:00", "This time has passed."),
        ("nonsense", "Correct the time."),
        ("2029-01-01T08:00", "more than a year"),
    ],
)
def test_a_wrong_time_of_an_account_is_refused(
    dashboard: Dashboard, accounts: list[ConnectedAccount], entered: str, message: str
) -> None:
    own = {f"time-{accounts[1].id}-when": entered}

    page = dashboard.compose("schedule", *accounts[:2], when="2027-03-11T18:00", extra=own)

    assert (page.status_code, PostGroup.objects.count()) == (422, 0)
    assert message in words(page)


def test_undoing_a_cancellation_restores_the_times(dashboard: Dashboard, staggered: dict[str, Any]) -> None:
    undo(dashboard, offer_after(dashboard, dashboard.post("post-cancel", staggered)))

    again = PostGroup.objects.get(pk=staggered["id"])
    assert (again.status, times_of(again)) == ("scheduled", ["11 18:00", "12 08:00"])
