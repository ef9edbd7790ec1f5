"""The composer's buttons say what they do and when, and a time that is filled in is never ignored."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from posts.models import PostGroup
from tests.conftest import ApiClient
from tests.posts.dashboard.dashboard import Dashboard, fields, the_group, words
from tests.posts.rows import TOMORROW, body_for, create

THURSDAY, FRIDAY = "2027-03-11T12:00", "2027-03-12T09:00"


def buttons(page: Any) -> list[tuple[str, str]]:
    """The buttons that save the post: "primary" or an empty string, and the label."""
    found = re.findall(r'<button id="release-\w+"( class="primary")? [^>]*>([^<]*)<', page.content.decode())
    return [("primary" if primary else "", html.unescape(label)) for primary, label in found]


def test_a_new_post_is_published_now_or_at_the_time_that_is_filled_in(
    dashboard: Dashboard, account: ConnectedAccount
) -> None:
    assert buttons(dashboard.get("compose")) == [
        ("primary", "Publish now"),
        ("", "Schedule for later"),
        ("", "Save as a shared draft"),
    ]
    scheduled = [
        ("primary", "Schedule for Fri 12 Mar 09:00"),
        ("", "Publish now, not on Fri 12 Mar 09:00"),
        ("", "Save as a shared draft"),
    ]
    assert buttons(dashboard.get("compose", when=FRIDAY)) == scheduled
    assert buttons(dashboard.compose("check", account, when=FRIDAY)) == scheduled
    assert buttons(dashboard.compose("check", account, when="2028-01-02T09:00"))[0][1] == "Schedule for Sun 2 Jan 2028 09:00"


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        (THURSDAY, ["Save and publish on Thu 11 Mar 12:00", "Publish now, not on Thu 11 Mar 12:00"]),
        (FRIDAY, ["Save and move to Fri 12 Mar 09:00", "Publish now, not on Fri 12 Mar 09:00"]),
        ("", ["Save changes", "Publish now"]),
    ],
)
def test_the_buttons_of_a_scheduled_post_name_its_time(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount, when: str, expected: list[str]
) -> None:
    group = create(api, account, scheduled_at=TOMORROW)

    page = dashboard.compose("check", account, group=group, when=when)

    assert buttons(page) == [("primary", expected[0]), ("", expected[1])]


def test_a_time_that_has_passed_is_not_offered_for_an_approval(
    dashboard: Dashboard, agent_client: Any, account: ConnectedAccount, clock: Any
) -> None:
    agent = agent_client(default_mode="requires_confirmation")
    group = agent.post("/posts", body_for(account, scheduled_at=TOMORROW)).json()["post_group"]
    assert buttons(dashboard.get("post-edit", group))[0] == ("primary", "Approve for Thu 11 Mar 12:00")
    clock.shift(2 * 86400)

    page = dashboard.get("post-edit", group)

    assert buttons(page)[0] == ("primary", "Approve and publish now")
    assert fields(page, "when") == []


def test_publish_now_does_nothing_while_it_does_not_name_the_time(dashboard: Dashboard, account: ConnectedAccount) -> None:
    """Without scripts, or before the check, the button says "Publish now" although a time has been filled in."""
    page = dashboard.compose("publish", account, when=FRIDAY, shown_when="")

    assert page.status_code == 422
    assert "Nothing was published, because a time is filled in." in words(page)
    assert buttons(page)[0] == ("primary", "Schedule for Fri 12 Mar 09:00")
    assert fields(page, "shown_when") == [FRIDAY]
    assert not PostGroup.objects.exists()
    assert dashboard.compose("schedule", account, when=FRIDAY, shown_when=FRIDAY).status_code == 303
    assert the_group().status == "scheduled"


def test_the_check_replaces_the_buttons_only_if_the_time_changed(dashboard: Dashboard, account: ConnectedAccount) -> None:
    changed = dashboard.compose("check", account, when=FRIDAY, shown_when="", live=True)
    unchanged = dashboard.compose("check", account, when=FRIDAY, shown_when=FRIDAY, live=True)

    assert buttons(changed)[0] == ("primary", "Schedule for Fri 12 Mar 09:00")
    assert buttons(unchanged) == []
