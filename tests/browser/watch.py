"""What a page must not do, whatever is shown on it: complain, break its policy, scroll sideways, shut people out."""

from __future__ import annotations

import re
from collections.abc import Container
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Response, Route, ViewportSize, WebError

WIDE: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}
LOOKS: tuple[tuple[str, ViewportSize, Literal["light", "dark"]], ...] = (
    ("wide", WIDE, "light"),
    ("phone", PHONE, "dark"),
)
ON_THIS_MACHINE = re.compile(r"https?://(127\.0\.0\.1|localhost)[:/]|(data|blob):")
# Chromium's word on a 4xx, which the answers below are judged by, and htmx's when a page is left in a request's midst, or
# a later request takes the place of one under way.
NO_COMPLAINT = ("Failed to load resource", "htmx:afterRequest", "htmx:sendError", "htmx:sendAbort")
HARM = ("serious", "critical")
# From the top, and without the colours of a state in between.
STILL = "scrollTo(0, 0); document.getAnimations().forEach((each) => each.finish())"
SIDEWAYS = """() => {
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
AXE = """async () => {
  const found = await axe.run(document, { resultTypes: ["violations"], preload: false });
  return found.violations.map((each) => ({
    impact: each.impact, rule: each.id, help: each.help, nodes: each.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)),
  }));
}"""


class Watch:
    """Keeps what the browser says is wrong on the service's pages; requests to other machines are not let out."""

    def __init__(self, context: BrowserContext, base_url: str) -> None:
        self.problems: list[str] = []
        self._base_url = base_url
        context.on("console", self._console)
        context.on("weberror", self._error)
        context.on("response", self._answer)
        context.route(lambda url: not ON_THIS_MACHINE.match(url), _kept_in)

    def _console(self, message: ConsoleMessage) -> None:
        address = str(message.location.get("url", ""))
        own = address.startswith(self._base_url) or (message.page is not None and self._is_own(message.page.url))
        if own and message.type in ("error", "warning") and not message.text.startswith(NO_COMPLAINT):
            self.problems.append(f"console {message.type} at {address}: {message.text}")

    def _error(self, error: WebError) -> None:
        if error.page is None or self._is_own(error.page.url):
            self.problems.append(f"script error: {error.error}")

    def _answer(self, response: Response) -> None:
        part_of_page = not response.request.is_navigation_request() and response.status != 422
        if self._is_own(response.url) and (response.status >= 500 or (part_of_page and response.status >= 400)):
            self.problems.append(f"{response.status} for {response.url}")

    def _is_own(self, address: str) -> bool:
        return address.startswith(self._base_url)


class Inspection:
    """Looks at an open page as a wide screen in the light and as a phone in the dark show it."""

    def __init__(self, axe: Path | None, screenshots: Path) -> None:
        self.axe = axe
        self._screenshots = screenshots
        screenshots.mkdir(parents=True, exist_ok=True)

    def look(self, page: Page, name: str, *, borne: Container[str] = ()) -> None:
        """Keep a screenshot of each, and fail on what is wrong; `borne` are rules of axe-core that others have broken."""
        wrong = []
        for kind, size, scheme in LOOKS:
            page.set_viewport_size(size)
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            page.evaluate(STILL)
            page.screenshot(path=self._screenshots / f"{name}_{kind}.png", full_page=True)
            wrong += [f"{kind}: {each}" for each in [*page.evaluate(SIDEWAYS), *self._shut_out(page, borne)]]
        page.set_viewport_size(WIDE)
        page.emulate_media(color_scheme="light")
        assert not wrong, f"{name} at {page.url}:\n" + "\n".join(map(str, wrong))

    def _shut_out(self, page: Page, borne: Container[str]) -> list[dict[str, Any]]:
        """What axe-core finds that keeps people out; nothing where it is not there."""
        if self.axe is None:
            return []
        if not page.evaluate("'axe' in window"):
            page.evaluate(f"() => {{ {self.axe.read_text()} }}")
        return [each for each in page.evaluate(AXE) if each["impact"] in HARM and each["rule"] not in borne]


def _kept_in(route: Route) -> None:
    route.abort()
