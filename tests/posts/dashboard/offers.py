"""Offers to undo: finds the button on a page, and presses it."""

from __future__ import annotations

import html
import re
from typing import Any

from tests.posts.dashboard.dashboard import Dashboard


def offer_on(page: Any) -> str:
    """The address of the button that undoes, on the page that followed an action; an empty string if there is none."""
    found = re.search(r'<form method="post" action="([^"]*/undo\?[^"]*)" data-once data-undo>', page.content.decode())
    return html.unescape(found[1]) if found else ""


def offer_after(dashboard: Dashboard, answer: Any) -> str:
    assert answer.status_code == 303, answer.content
    return offer_on(dashboard.http.get(answer["location"]))


def undo(dashboard: Dashboard, offer: str) -> Any:
    """Press the button; returns the page that follows."""
    assert offer
    return dashboard.http.post(offer, follow=True)
