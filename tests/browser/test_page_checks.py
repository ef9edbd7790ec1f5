"""The page checks of the browser tests find what they check for, on pages broken on purpose."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import OpenPage, new_context
from tests.browser.page_checks import ErrorRecorder, PageChecker
from tests.browser.service import Service

WIDE_BOX = "document.querySelector('main').append(Object.assign(document.createElement('canvas'), { width: 2000 }))"
NO_NAME = "document.querySelector('main').append(document.createElement('button'))"
INLINE_STYLE = "document.body.setAttribute('style', 'color: red')"
# Resolves after the error was thrown, since a page that is left loses its timers.
BROKEN_SCRIPT = "new Promise((thrown) => setTimeout(() => { setTimeout(thrown); throw new Error('broken') }))"
ABSENT_PART = "fetch('/static/site/nothing.css')"


@pytest.mark.parametrize(("breakage", "found"), [(WIDE_BOX, "wider than the screen"), (NO_NAME, "button-name")])
def test_the_checker_fails_on_a_broken_page(open_page: OpenPage, checker: PageChecker, breakage: str, found: str) -> None:
    if found == "button-name" and checker.axe is None:
        pytest.skip("axe-core is not installed; `make browser-setup` installs it.")
    page = open_page("/dashboard/sign-in", signed_in=False)
    page.evaluate(breakage)

    with pytest.raises(AssertionError, match=found):
        checker.check(page, "broken")


@pytest.mark.parametrize(
    ("breakage", "found"), [(INLINE_STYLE, "Content Security Policy"), (BROKEN_SCRIPT, "broken"), (ABSENT_PART, "404 for")]
)
def test_browser_errors_are_recorded(chromium: Browser, service: Service, breakage: str, found: str) -> None:
    context = new_context(chromium, service.base_url)
    recorder = ErrorRecorder(context, service.base_url)
    page = context.new_page()
    page.goto("/dashboard/sign-in")
    page.evaluate(breakage)
    page.goto("/dashboard/sign-in")
    context.close()

    assert [problem for problem in recorder.problems if found in problem]
