"""Checks for every page in the browser tests: errors, the security policy, horizontal scrolling, and accessibility."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, Response, Route, ViewportSize, WebError

WIDE: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}
SCREENS: tuple[tuple[str, ViewportSize, Literal["light", "dark"]], ...] = (
    ("wide_light", WIDE, "light"),
    ("wide_dark", WIDE, "dark"),
    ("phone_dark", PHONE, "dark"),
    ("phone_light", PHONE, "light"),
)
PICTURED = ("wide_light", "phone_dark")  # the screens of which screenshots are kept
ON_THIS_MACHINE = re.compile(r"https?://(127\.0\.0\.1|localhost)[:/]|(data|blob):")
# Chromium's message about a 4xx response, which `_answer` checks, and htmx's messages about requests that were cut off
# because the page was left or a later request replaced them.
IGNORED_MESSAGES = ("Failed to load resource", "htmx:afterRequest", "htmx:sendError", "htmx:sendAbort")
# Scrolls to the top and ends all animations, whose intermediate colours would fail the contrast rules.
STOP_ANIMATIONS = "scrollTo(0, 0); document.getAnimations().forEach((each) => each.finish())"
FIND_OVERFLOW = """() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  const clipped = (each) => {
    for (let up = each.parentElement; up && up !== document.body; up = up.parentElement)
      if (getComputedStyle(up).overflowX !== "visible") return true;
    return false;
  };
  return [...document.body.querySelectorAll("*")]
    .filter((each) => each.getBoundingClientRect().right > width + 1 && !clipped(each))
    .map((each) => each.outerHTML.slice(0, 160)).slice(0, 3).concat("the page is wider than the screen");
}"""
# Rules that depend on the colours; all others find the same in light and in dark.
COLOUR_RULES = ["color-contrast", "link-in-text-block"]
AXE = """async (runOnly) => {
  const found = await axe.run(document, { resultTypes: ["violations"], preload: false, ...(runOnly && { runOnly }) });
  return found.violations.map((each) => ({
    impact: each.impact, rule: each.id, help: each.help, nodes: each.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)),
  }));
}"""


class ErrorRecorder:
    """Records errors that the browser reports on the service's pages, and blocks requests to other machines."""

    def __init__(self, context: BrowserContext, base_url: str) -> None:
        self.problems: list[str] = []
        self._base_url = base_url
        context.on("console", self._console)
        context.on("weberror", self._error)
        context.on("response", self._answer)
        context.route(lambda url: not ON_THIS_MACHINE.match(url), _abort)

    def _console(self, message: ConsoleMessage) -> None:
        address = str(message.location.get("url", ""))
        own = address.startswith(self._base_url) or (message.page is not None and self._is_own(message.page.url))
        if own and message.type in ("error", "warning") and not message.text.startswith(IGNORED_MESSAGES):
            self.problems.append(f"console {message.type} at {address}: {message.text}")

    def _error(self, error: WebError) -> None:
        if error.page is None or self._is_own(error.page.url):
            self.problems.append(f"script error: {error.error}")

    def _answer(self, response: Response) -> None:
        # The service worker repeats navigations as requests of its own.
        is_navigation = response.request.is_navigation_request() or response.request.service_worker is not None
        part_of_page = not is_navigation and response.status != 422
        if self._is_own(response.url) and (response.status >= 500 or (part_of_page and response.status >= 400)):
            self.problems.append(f"{response.status} for {response.url}")

    def _is_own(self, address: str) -> bool:
        return address.startswith(self._base_url)


class PageChecker:
    """Checks an open page on a wide screen and on a phone, in light and in dark colours."""

    def __init__(self, axe: Path | None, screenshots: Path) -> None:
        self.axe = axe
        self._screenshots = screenshots
        screenshots.mkdir(parents=True, exist_ok=True)

    def check(self, page: Page, name: str) -> None:
        """Fail on any problem on any screen, and keep screenshots of two."""
        wrong = []
        for kind, size, scheme in SCREENS:
            page.set_viewport_size(size)
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            page.evaluate(STOP_ANIMATIONS)
            # A screenshot paints a frame, in which scripts such as that of /docs learn of the other colours.
            if kind in PICTURED:
                page.screenshot(path=self._screenshots / f"{name}_{kind}.png", full_page=True)
            else:
                page.screenshot(clip={"x": 0, "y": 0, "width": 1, "height": 1})
            page.evaluate(STOP_ANIMATIONS)
            rules = COLOUR_RULES if scheme == "dark" else None
            found = [*page.evaluate(FIND_OVERFLOW), *self._accessibility_violations(page, rules)]
            wrong += [f"{kind}: {each}" for each in found]
        page.set_viewport_size(WIDE)
        page.emulate_media(color_scheme="light")
        assert not wrong, f"{name} at {page.url}:\n" + "\n".join(map(str, wrong))

    def _accessibility_violations(self, page: Page, rules: list[str] | None) -> list[dict[str, Any]]:
        """Return what axe-core finds by these rules or by all, whatever the impact; nothing if it is not installed."""
        if self.axe is None:
            return []
        if not page.evaluate("'axe' in window"):
            page.evaluate(f"() => {{ {self.axe.read_text()} }}")
        found: list[dict[str, Any]] = page.evaluate(AXE, rules)
        return found


def menu_link(page: Page, name: str) -> Locator:
    """Return the link of the menu at the side of a wide page.

    Until a new page's stylesheets apply, the menu is hidden and the bar for phones, which has some of the same links, is
    visible. A link looked for in the whole page may therefore be found in that bar and disappear before it is clicked.
    """
    return page.get_by_role("navigation", name="Workspace").get_by_role("link", name=name)


def _abort(route: Route) -> None:
    route.abort()
