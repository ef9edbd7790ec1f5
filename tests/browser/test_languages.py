"""Pages in German, whose words are longer, and from right to left, on a wide screen and on a phone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.full_workspace import FullWorkspace
from tests.browser.page_checks import FIND_OVERFLOW, SCREENS, WIDE, PageChecker
from tests.browser.test_every_page import OTHER_PAGES, WORKSPACE_PAGES, page_path
from tests.browser.ways_of_use import WayOfUse, in_every_way

RIGHT_TO_LEFT = "document.documentElement.dir = 'rtl'"


def overflow(page: Page) -> list[str]:
    """Return what is wider than the screen, on each screen."""
    found = []
    for kind, size, _ in SCREENS:
        page.set_viewport_size(size)
        found += [f"{page.url} ({kind}): {each}" for each in page.evaluate(FIND_OVERFLOW)]
    page.set_viewport_size(WIDE)
    return found


def test_pages_in_german_fit_the_screen_in_both_directions(open_page: OpenPage, full_workspace: FullWorkspace) -> None:
    paths = [page_path(full_workspace, name) for name in WORKSPACE_PAGES] + list(OTHER_PAGES.values())
    page = open_page(locale="de-DE")
    found = []
    for path in paths:
        page.goto(path)
        expect(page.locator("html")).to_have_attribute("lang", "de")
        found += overflow(page)
        page.evaluate(RIGHT_TO_LEFT)
        found += [f"from right to left: {each}" for each in overflow(page)]

    assert found == []


@pytest.mark.parametrize("name", ["home", "agent", "settings", "members"])
def test_a_page_in_german_passes_the_checks(
    open_page: OpenPage, full_workspace: FullWorkspace, checker: PageChecker, name: str
) -> None:
    page = open_page(page_path(full_workspace, name), locale="de-DE")
    checker.check(page, f"german-{name}")
    page.evaluate(RIGHT_TO_LEFT)
    checker.check(page, f"right-to-left-{name}")


@in_every_way
def test_the_chosen_language_is_kept(open_page: OpenPage, full_workspace: FullWorkspace, way: WayOfUse) -> None:
    page = open_page("/dashboard/language", locale="de-DE", **way.options)
    expect(page.get_by_role("heading", name="Sprache")).to_be_visible()
    way.choose(page.get_by_label("Sprache"), "Español")
    way.press(page.get_by_role("button", name="Speichern"))
    expect(page.get_by_text("El idioma se ha guardado.")).to_be_visible()

    page.goto(page_path(full_workspace, "home"))
    page.evaluate(RIGHT_TO_LEFT)
    way.press(page.get_by_role("link", name="Calendario").locator("visible=true").first)
    expect(page).to_have_url(re.compile("/calendar$"))
    page.goto("/dashboard/language")
    way.choose(page.get_by_label("Idioma"), "Según el navegador")
    way.press(page.get_by_role("button", name="Guardar"))
    expect(page.get_by_text("Die Sprache ist gespeichert.")).to_be_visible()
