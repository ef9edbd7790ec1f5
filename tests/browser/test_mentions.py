"""Looking people up and mentioning them in the composer: with the mouse, the keyboard, on a phone, without scripts."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.page_checks import PHONE, PageChecker
from tests.browser.service import Workspace
from tests.browser.test_composer import expect_published, open_tab
from tests.browser.test_composer_tabs import choose
from tests.browser.ways_of_use import tab_to_and_press
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.bluesky_methods import SEARCH_PEOPLE

HANDLE, APP_PASSWORD = "mentions.test", "abcd-efgh-ijkl-mnop"


@pytest.fixture(scope="module")
def people(bluesky: FakeBluesky) -> dict[str, str]:
    """The DIDs of our account and of people with a profile on Bluesky, by their handles."""
    names = {"ada.test": "Ada Lovelace", "adam.test": "Adam of the very long name of a bakery", "grace.test": "Grace"}
    dids = {handle: bluesky.add_account(handle, "") for handle in names}
    for handle, name in names.items():
        bluesky.show_profile(dids[handle], name)
    return {**dids, HANDLE: bluesky.add_account(HANDLE, APP_PASSWORD)}


@pytest.fixture
def connected(workspace: Workspace, people: dict[str, str]) -> Workspace:
    """A workspace with an account at the Bluesky stand-in."""
    credentials = {"identifier": HANDLE, "app_password": APP_PASSWORD}
    asked = {"workspace_id": workspace.id, "platform": "bluesky", "method": "credentials", "credentials": credentials}
    workspace.call("POST", "/accounts/connect", asked)
    return workspace


def open_composer(open_page: OpenPage, workspace: Workspace, **options: Any) -> Page:
    return open_page(f"/dashboard/workspaces/{workspace.id}/compose", **options)


def test_a_person_is_found_and_mentioned_at_the_cursor(
    open_page: OpenPage, connected: Workspace, bluesky: FakeBluesky, people: dict[str, str], checker: PageChecker
) -> None:
    page = open_composer(open_page, connected)
    choose(page, HANDLE)
    text = page.get_by_label("Text for all accounts")
    text.fill("Thanks to!")
    text.press("End")
    text.press("ArrowLeft")
    page.locator("summary", has_text="People").click()
    page.get_by_label("Name or handle").press_sequentially("ada")
    expect(page.locator("#people-said")).to_have_text("2 people on Bluesky.")
    checker.check(page, "compose-people")
    page.get_by_role("button", name="Ada Lovelace").click()

    expect(text).to_have_value("Thanks to @ada.test!")
    expect(page.locator("#check-said")).to_contain_text("Valid for this account.")
    page.get_by_role("button", name="Publish now").click()
    expect_published(page)
    [record] = bluesky.records(people[HANDLE])
    [facet] = record["value"]["facets"]
    assert facet["features"] == [{"$type": "app.bsky.richtext.facet#mention", "did": people["ada.test"]}]


def test_a_person_is_mentioned_with_the_keyboard_in_the_text_of_one_account(
    open_page: OpenPage, workspace: Workspace
) -> None:
    page = open_composer(open_page, workspace)
    choose(page, "Mastodon", "LinkedIn")
    open_tab(page, "Mastodon")
    page.keyboard.type("Thanks to")
    tab_to_and_press(page.locator("summary", has_text="People"), "Enter")
    tab_to_and_press(page.get_by_label("Name or handle"), "a")
    page.keyboard.type("da")
    button = page.get_by_role("button", name="@ada.sandbox.example")
    expect(button).to_be_visible()
    tab_to_and_press(button, "Enter")

    expect(page.get_by_label("Text for Mastodon")).to_have_value("Thanks to @ada.sandbox.example")
    expect(button).to_be_focused()


def test_a_person_is_mentioned_on_a_phone(open_page: OpenPage, connected: Workspace) -> None:
    page = open_composer(open_page, connected, viewport=PHONE, has_touch=True, is_mobile=True)
    page.locator(".chip", has_text=HANDLE).tap()
    page.locator("summary", has_text="People").tap()
    page.get_by_label("Name or handle").fill("ada")
    expect(page.locator(".people button")).to_have_count(2)
    page.get_by_role("button", name="Ada Lovelace").tap()

    expect(page.get_by_label("Text for all accounts")).to_have_value("@ada.test")


def test_a_person_is_mentioned_without_scripts(open_page: OpenPage, workspace: Workspace) -> None:
    page = open_composer(open_page, workspace, java_script_enabled=False)
    page.get_by_label("Text for all accounts").fill("Thanks to")
    page.get_by_role("checkbox", name="Mastodon").check()
    page.locator("summary", has_text="People").click()
    page.get_by_label("Name or handle").fill("Ada")
    page.get_by_role("button", name="Find").click()
    page.get_by_role("button", name="@ada.sandbox.example").click()

    expect(page.get_by_label("Text for all accounts")).to_have_value("Thanks to @ada.sandbox.example")


def test_enter_keeps_the_text_and_the_people(open_page: OpenPage, workspace: Workspace) -> None:
    page = open_composer(open_page, workspace)
    choose(page, "Mastodon")
    page.get_by_label("Text for all accounts").fill("Thanks to")
    page.locator("summary", has_text="People").click()
    page.get_by_label("Name or handle").fill("ada")
    page.get_by_label("Name or handle").press("Enter")

    expect(page.get_by_role("button", name="@ada.sandbox.example")).to_be_visible()
    expect(page.get_by_label("Text for all accounts")).to_have_value("Thanks to")


def test_a_platform_that_fails_costs_only_the_look_up(
    open_page: OpenPage, connected: Workspace, bluesky: FakeBluesky
) -> None:
    page = open_composer(open_page, connected)
    choose(page, HANDLE)
    page.locator("summary", has_text="People").click()
    bluesky.fail_next(SEARCH_PEOPLE)
    page.get_by_label("Name or handle").fill("gra")
    expect(page.locator("#people-said")).to_have_text("The look-up is not available at the moment.")
    page.get_by_label("Name or handle").fill("grace")
    expect(page.locator("#people-said")).to_have_text("1 person on Bluesky.")
