"""What the looks at pages are worth: each finds what it looks for, on a page that was spoilt for it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import Open, new_context
from tests.browser.service import Service
from tests.browser.watch import Inspection, Watch

WIDE_BOX = "document.querySelector('main').append(Object.assign(document.createElement('canvas'), { width: 2000 }))"
NO_NAME = "document.querySelector('main').append(document.createElement('button'))"
INLINE_STYLE = "document.body.setAttribute('style', 'color: red')"
# Over when it has thrown, since a page that goes away takes its timers along.
BROKEN_SCRIPT = "new Promise((thrown) => setTimeout(() => { setTimeout(thrown); throw new Error('spoilt') }))"
ABSENT_PART = "fetch('/static/site/nothing.css')"


@pytest.mark.parametrize(("spoil", "found"), [(WIDE_BOX, "wider than the screen"), (NO_NAME, "button-name")])
def test_a_spoilt_page_is_found_out(open_page: Open, inspection: Inspection, spoil: str, found: str) -> None:
    if found == "button-name" and inspection.axe is None:
        pytest.skip("axe-core is not here: `make browser-setup` brings it.")
    page = open_page("/dashboard/sign-in", signed_in=False)
    page.evaluate(spoil)

    with pytest.raises(AssertionError, match=found):
        inspection.look(page, "spoilt")


@pytest.mark.parametrize(
    ("spoil", "found"), [(INLINE_STYLE, "Content Security Policy"), (BROKEN_SCRIPT, "spoilt"), (ABSENT_PART, "404 for")]
)
def test_what_the_browser_complains_of_is_kept(chromium: Browser, service: Service, spoil: str, found: str) -> None:
    context = new_context(chromium, service.base_url)
    watch = Watch(context, service.base_url)
    page = context.new_page()
    page.goto("/dashboard/sign-in")
    page.evaluate(spoil)
    page.goto("/dashboard/sign-in")
    context.close()

    assert [problem for problem in watch.problems if found in problem]
