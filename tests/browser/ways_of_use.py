"""The ways in which people use pages: with a mouse, with the keyboard alone, by touch on a phone, and without scripts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.page_checks import PHONE

# Whether the target has the focus, and whether the focus is visible. The parts of a field for a date, a time or a month are
# left out: the browser marks their focus itself.
FOCUS = """target => [target === document.activeElement, document.activeElement.matches("body, [type^=date], [type=month]")
  || getComputedStyle(document.activeElement).outlineStyle !== "none"]"""
COUNT_CLICKS = """document.addEventListener("click", ({ detail }) => {
  if (detail) sessionStorage.clicks = 1 + Number(sessionStorage.clicks ?? 0);
}, true)"""
TAB_STOPS = 150  # more than any page has


@dataclass(frozen=True)
class WayOfUse:
    """A way to use a page: its browser profile's options, and how people press links, enter text, check boxes and choose."""

    press: Callable[[Locator], None]
    enter: Callable[[Locator, str], None] = Locator.fill
    check: Callable[[Locator], None] = Locator.check
    uncheck: Callable[[Locator], None] = Locator.uncheck
    choose: Callable[[Locator, str], object] = Locator.select_option
    options: dict[str, Any] = field(default_factory=dict)


def tab_to_and_press(target: Locator, key: str) -> None:
    """Press Tab until the target has the focus, then press the key. Fails if a focused element does not show its focus."""
    page = target.page
    for _ in range(TAB_STOPS):
        page.keyboard.press("Tab")
        is_target, is_visible = target.evaluate(FOCUS)
        assert is_visible, page.evaluate("document.activeElement.outerHTML.slice(0, 200)")
        if is_target:
            if key:
                page.keyboard.press(key)
            return
    raise AssertionError(f"{target} cannot be reached with Tab")


def sign_out(page: Page, way: WayOfUse) -> None:
    """Sign out on a page of a workspace, where the button is in a menu on phones."""
    if way is TOUCH:
        way.press(page.get_by_role("button", name="Menu"))
    way.press(page.get_by_role("button", name="Sign out"))
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def clicks(page: Page) -> int:
    """Return how often the mouse or a finger has clicked in this tab, if COUNT_CLICKS runs in it; 0 without scripts."""
    return int(page.evaluate("sessionStorage.clicks ?? 0"))


def _press_enter(target: Locator) -> None:
    expect(target).to_be_visible()  # the page on which it is has come
    tab_to_and_press(target, "Enter")


def _type(target: Locator, text: str) -> None:
    tab_to_and_press(target, "ControlOrMeta+A")
    target.page.keyboard.type(text)


def _press_space(target: Locator) -> None:
    tab_to_and_press(target, "Space")


def _type_choice(target: Locator, label: str) -> None:
    tab_to_and_press(target, "")
    target.page.keyboard.type(label)


PHONE_PROFILE = {"viewport": PHONE, "has_touch": True, "is_mobile": True}

MOUSE = WayOfUse(Locator.click)
KEYBOARD = WayOfUse(_press_enter, _type, _press_space, _press_space, _type_choice)
TOUCH = WayOfUse(Locator.tap, check=Locator.tap, uncheck=Locator.tap, options=PHONE_PROFILE)
NO_SCRIPTS = WayOfUse(Locator.click, options={"java_script_enabled": False})

in_every_way = pytest.mark.parametrize(
    "way", [MOUSE, KEYBOARD, TOUCH, NO_SCRIPTS], ids=["mouse", "keyboard", "touch", "no scripts"]
)
