"""The dashboard as a person works at it: pages of one workspace, and their forms."""

from __future__ import annotations

import html
import re
from typing import Any

from django.test import Client
from django.urls import reverse

from accounts.models import ConnectedAccount
from posts.models import PostGroup
from tests.people import sign_in_here
from workspaces.models import User, Workspace


class Dashboard:
    """A browser in which somebody is signed in (None: nobody)."""

    def __init__(self, workspace: Workspace, user: User | None, *, csrf: bool = False) -> None:
        self.workspace = workspace
        self.http = Client(enforce_csrf_checks=csrf)
        if user:
            sign_in_here(self.http, user)

    def address(self, name: str, group: Any = None) -> str:
        """Of a page; `group` is a row or a body of the API."""
        named = {"workspace_id": self.workspace.id}
        if group is not None:
            named["post_group_id"] = group["id"] if isinstance(group, dict) else group.id
        return reverse(name, kwargs=named)

    def get(self, name: str, group: Any = None, **query: str) -> Any:
        return self.http.get(self.address(name, group), query)

    def post(self, name: str, group: Any = None, *, live: bool = False, **form: Any) -> Any:
        """Send a form; `live`: as htmx does."""
        headers = {"HX-Request": "true"} if live else {}
        return self.http.post(self.address(name, group), form, headers=headers)

    def compose(
        self, action: str, *accounts: ConnectedAccount, group: Any = None, live: bool = False, **form: Any
    ) -> Any:
        """Press a button of the composer with these accounts chosen; `extra` are fields whose names are no words."""
        fields = {"key": "k", "text": "Hello", **form.pop("extra", {}), **form}
        chosen = [account.id for account in accounts]
        name = "post-edit" if group else "compose"
        return self.post(name, group, live=live, action=action, account=chosen, **fields)


def the_group() -> PostGroup:
    """The only group there is."""
    return PostGroup.objects.get()


def words(page: Any) -> str:
    """What a person reads."""
    main = page.content.decode().partition("<main")[2] or page.content.decode()
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", main).split()))


def fields(page: Any, name: str) -> list[str]:
    """The values of the page's inputs of this name, in order."""
    return [
        html.unescape(value[1])
        for tag in re.findall(rf'<input[^>]*name="{re.escape(name)}"[^>]*>', page.content.decode())
        if (value := re.search(r'value="([^"]*)"', tag))
    ]


def typed(page: Any, name: str) -> str:
    """What stands in the text area of this name; HTML drops the line end at its beginning."""
    found = re.search(
        rf'<textarea[^>]*name="{re.escape(name)}"[^>]*>\n?(.*?)</textarea>', page.content.decode(), re.DOTALL
    )
    assert found, f"There is no text area {name}."
    return html.unescape(found[1])
