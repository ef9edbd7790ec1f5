"""A browser at the dashboard pages of a workspace: opens pages by route name, and reads and sends their forms."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser
from typing import Any

from django.test import Client
from django.urls import reverse

from tests.people import sign_in_here
from workspaces.models import User, Workspace


class Pages:
    """The dashboard pages of one workspace in a browser, signed in as `user` (None: not signed in)."""

    def __init__(self, workspace: Workspace, user: User | None, *, csrf: bool = False) -> None:
        self.workspace = workspace
        self.http = Client(enforce_csrf_checks=csrf)
        if user:
            sign_in_here(self.http, user)

    def address(self, name: str, **named: str) -> str:
        return reverse(name, kwargs={"workspace_id": self.workspace.id, **named})

    def get(self, name: str, *, query: dict[str, str] | None = None, **named: str) -> Any:
        return self.http.get(self.address(name, **named), query or {})

    def post(self, name: str, form: dict[str, Any] | None = None, *, follow: bool = False, **named: str) -> Any:
        return self.http.post(self.address(name, **named), form or {}, follow=follow)


def words(page: Any) -> str:
    """Return the text of the page's main part, as a person reads it."""
    main = page.content.decode().partition("<main")[2].partition(">")[2]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", main)).split())


def form_of(page: Any, action: str = "") -> dict[str, Any]:
    """Return the fields of the form with this action ("" is the page's own address), as a browser sends them unchanged."""
    reader = _FormReader(action)
    reader.feed(page.content.decode())
    assert reader.found, f"There is no form for {action or 'the page itself'}."
    return reader.fields


def has_form(page: Any, action: str = "") -> bool:
    reader = _FormReader(action)
    reader.feed(page.content.decode())
    return reader.found


class _FormReader(HTMLParser):
    """Collects the values of one form's controls; a repeated name gets a list."""

    def __init__(self, action: str) -> None:
        super().__init__()
        self.action, self.found, self.fields = action, False, dict[str, Any]()
        self._inside, self._area = False, ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "form":
            self._inside = given.get("method") == "post" and (given.get("action") or "") == self.action
            self.found = self.found or self._inside
        elif self._inside and tag == "input" and given.get("name"):
            if given.get("type") not in ("checkbox", "radio") or "checked" in given:
                self._put(str(given["name"]), given.get("value") or ("on" if given.get("type") == "checkbox" else ""))
        elif self._inside and tag == "textarea":
            self._area = str(given["name"])
            self._put(self._area, "")

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "form"
        self._area = "" if tag == "textarea" else self._area

    def handle_data(self, data: str) -> None:
        if self._area:
            self.fields[self._area] += data.removeprefix("\n")

    def _put(self, name: str, value: str) -> None:
        before = self.fields.get(name)
        self.fields[name] = value if before is None else [*(before if isinstance(before, list) else [before]), value]
