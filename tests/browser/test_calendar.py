"""The calendar in a browser: its views, filters, moves and slots."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.full_workspace import FullWorkspace
from tests.browser.page_checks import PageChecker, menu_link
from tests.browser.service import Workspace
from tests.browser.ways_of_use import KEYBOARD, MOUSE, TOUCH, WayOfUse, in_every_way


def calendar_path(workspace: Workspace, **query: str) -> str:
    """The address of the workspace's calendar."""
    return f"/dashboard/workspaces/{workspace.id}/calendar?" + "&".join(f"{name}={value}" for name, value in query.items())


def day_ahead(days: int, hour: int = 8) -> datetime:
    return datetime.now(UTC).replace(hour=hour, minute=0, second=0, microsecond=0) + timedelta(days=days)


@pytest.mark.parametrize("view", ["month", "week", "day", "list"])
def test_each_view_shows_the_posts(
    open_page: OpenPage, full_workspace: FullWorkspace, checker: PageChecker, view: str
) -> None:
    page = open_page(calendar_path(full_workspace.workspace, view=view))
    entry = page.locator(".entry", has_text="The rye is out of the oven.")
    expect(entry.get_by_role("img", name="Bluesky")).to_be_visible()
    expect(entry.locator("img")).to_have_js_property("naturalWidth", 320)
    checker.check(page, f"calendar-{view}")


@in_every_way
def test_posts_are_found_by_their_text(open_page: OpenPage, workspace: Workspace, way: WayOfUse) -> None:
    post_calendar_texts(workspace)
    page = open_page(calendar_path(workspace, view="list"), **way.options)
    expect(page.locator(".entry")).to_have_count(2)
    way.press(page.locator("summary", has_text="Filter"))
    way.enter(page.get_by_label("Text", exact=True), "bread")
    way.press(page.get_by_role("button", name="Show"))

    expect(page.locator(".entry")).to_have_count(1)
    assert "q=bread" in page.url
    way.press(page.get_by_role("link", name="Show all"))
    expect(page.locator(".entry")).to_have_count(2)


@in_every_way
def test_the_plus_of_a_day_and_of_an_hour_opens_the_composer(
    open_page: OpenPage, workspace: Workspace, way: WayOfUse
) -> None:
    day = day_ahead(3)
    workspace.post("Not free", workspace.account("mastodon"), scheduled_at=day.isoformat())  # phones leave out free days
    page = open_page(calendar_path(workspace, date=f"{day:%Y-%m-%d}"), **way.options)
    plus = page.get_by_role("link", name=f"New post on {day.day} {day:%B}", exact=True)
    expect(plus).to_have_css("opacity", "1")  # it needs no hovering
    way.press(plus)
    expect(page.get_by_label("When to publish")).to_have_value(re.compile(f"^{day:%Y-%m-%d}T"))

    page.goto(calendar_path(workspace, view="day", date=f"{day:%Y-%m-%d}"))
    way.press(page.get_by_role("link", name="New post at 15:00"))
    expect(page.get_by_label("When to publish")).to_have_value(f"{day:%Y-%m-%d}T15:00")


def post_calendar_texts(workspace: Workspace) -> None:
    for number, text in enumerate(("Fresh bread", "Warm rolls")):
        workspace.post(text, workspace.account("mastodon"), scheduled_at=day_ahead(2 + number).isoformat())


@pytest.mark.parametrize("view", ["month", "list"])
def test_a_post_is_dragged_to_another_day(open_page: OpenPage, workspace: Workspace, checker: PageChecker, view: str) -> None:
    here, there = two_days_of_the_month_view() if view == "month" else (day_ahead(10), day_ahead(12))
    post = workspace.post("Drag me", workspace.account("mastodon"), scheduled_at=here.isoformat())
    if view == "list":
        page = open_page(calendar_path(workspace, view="list", date=f"{day_ahead(9):%Y-%m-%d}"))
    else:
        page = open_page(f"/dashboard/workspaces/{workspace.id}")
        menu_link(page, "Calendar").click()
        if here > day_ahead(1):
            page.get_by_role("link", name="Later").click()
    page.locator(".entry", has_text="Drag me").drag_to(page.locator(f'[data-day="{there:%Y-%m-%d}"]'))
    expect(page.locator("#messages")).to_contain_text(f"Moved to {there:%A}, {there.day} {there:%B %Y}, 08:00.")
    expect(page.locator(f'[data-day="{there:%Y-%m-%d}"]')).to_contain_text("Drag me")
    checker.check(page, f"calendar-moved-{view}")
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.locator("#messages")).to_contain_text("Undone: the post has its former time again.")
    assert time_of(workspace, post) == here


def two_days_of_the_month_view() -> tuple[datetime, datetime]:
    """Tomorrow and the day after, if the weeks of this month show them; otherwise two days that the next month shows."""
    today = day_ahead(0)
    next_month = (today.replace(day=1) + timedelta(days=32)).replace(day=1)
    last_day = next_month + timedelta(days=-next_month.weekday() % 7 - 1)
    return (day_ahead(1), day_ahead(2)) if day_ahead(2) <= last_day else (day_ahead(10), day_ahead(12))


def test_a_post_is_dragged_to_another_hour(open_page: OpenPage, workspace: Workspace) -> None:
    post = workspace.post("Drag me", workspace.account("mastodon"), scheduled_at=day_ahead(10).isoformat())
    page = open_page(calendar_path(workspace, view="day", date=f"{day_ahead(10):%Y-%m-%d}"))
    page.locator(".entry", has_text="Drag me").drag_to(page.locator('[data-hour="11"]'))
    expect(page.locator("#messages")).to_contain_text("11:00.")
    assert time_of(workspace, post) == day_ahead(10, 11)


def test_what_was_published_cannot_be_dragged(open_page: OpenPage, workspace: Workspace) -> None:
    workspace.post("Gone out", workspace.account("mastodon"))
    page = open_page(calendar_path(workspace, view="list"))
    tomorrow = page.locator(f'[data-day="{day_ahead(1):%Y-%m-%d}"]')
    page.locator(".entry", has_text="Gone out").drag_to(tomorrow)
    expect(page.get_by_role("link", name="Gone out")).to_have_attribute(
        "title", "It is being published or was published, so its time can no longer be changed."
    )
    expect(tomorrow.locator(".entry")).to_have_count(0)


@in_every_way
def test_a_post_is_moved_with_the_form(
    open_page: OpenPage, workspace: Workspace, checker: PageChecker, way: WayOfUse
) -> None:
    post = workspace.post("Move me", workspace.account("mastodon"), scheduled_at=day_ahead(10).isoformat())
    page = open_page(calendar_path(workspace, view="list", date=f"{day_ahead(9):%Y-%m-%d}"), **way.options)
    way.press(page.get_by_role("link", name="Move the post of 08:00…"))
    page.get_by_label("When to publish").fill(f"{day_ahead(13, 9):%Y-%m-%dT%H:%M}")
    if way is MOUSE:
        checker.check(page, "calendar-move")
    way.press(page.get_by_role("button", name="Move", exact=True))

    expect(page.locator("#messages")).to_contain_text("Moved to")
    expect(page.locator(f'[data-day="{day_ahead(13):%Y-%m-%d}"]')).to_contain_text("Move me")
    assert time_of(workspace, post) == day_ahead(13, 9)
    way.press(page.get_by_role("button", name="Undo", exact=True))
    expect(page.locator(f'[data-day="{day_ahead(10):%Y-%m-%d}"]')).to_contain_text("Move me")


def test_empty_slots_are_filled(open_page: OpenPage, workspace: Workspace, checker: PageChecker) -> None:
    account, there = workspace.account("mastodon"), day_ahead(12, 14)
    slot = {"weekday": f"{there:%a}".lower(), "time": "14:00"}
    path = f"/accounts/{account['connected_account_id']}/slots"
    workspace.call("PUT", path, {"slots": [slot], "timezone": "UTC"})
    post = workspace.post("Fill it", account, scheduled_at=day_ahead(10).isoformat())
    page = open_page(calendar_path(workspace, view="list", date=f"{day_ahead(9):%Y-%m-%d}"))
    empty = page.locator(f'[data-day="{there:%Y-%m-%d}"] .slot')
    checker.check(page, "calendar-slots")
    page.locator(".entry", has_text="Fill it").drag_to(empty)
    expect(page.locator("#messages")).to_contain_text("14:00.")
    expect(empty).to_have_count(0)
    assert time_of(workspace, post) == there

    page.get_by_role("button", name="Undo", exact=True).click()
    empty.get_by_role("link").click()
    expect(page.get_by_label("When to publish").first).to_have_value(f"{there:%Y-%m-%dT%H:%M}")
    expect(page.get_by_role("checkbox", name="Mastodon sandbox.mastodon Sandbox")).to_be_checked()


@pytest.mark.parametrize("way", [MOUSE, KEYBOARD, TOUCH], ids=["mouse", "keyboard", "touch"])
def test_the_time_zone_of_the_browser_is_offered(
    open_page: OpenPage, workspace: Workspace, checker: PageChecker, way: WayOfUse
) -> None:
    page = open_page(calendar_path(workspace), timezone_id="America/New_York", **way.options)
    expect(page.locator("main")).to_contain_text("Times are in the UTC time zone.")
    if way is MOUSE:
        checker.check(page, "calendar-zone")
    way.press(page.get_by_role("button", name="Use America/New York for the workspace"))
    expect(page.locator("#messages")).to_contain_text("saved")
    page.goto(calendar_path(workspace))
    expect(page.locator("main")).to_contain_text("Times are in the America/New_York time zone.")
    expect(page.locator("#zone")).to_be_hidden()


def time_of(workspace: Workspace, post: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(workspace.call("GET", f"/posts/{post['id']}")["post_group"]["scheduled_at"])
