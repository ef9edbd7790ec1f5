"""A driver for the dashboard's posts pages and their forms."""

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
    """A browser session in one workspace; without a user nobody is signed in."""

    def __init__(self, workspace: Workspace, user: User | None, *, csrf: bool = False) -> None:
        self.workspace = workspace
        self.http = Client(enforce_csrf_checks=csrf)
        if user:
            sign_in_here(self.http, user)

    def address(self, name: str, group: Any = None) -> str:
        """The URL of a page; `group` is a model instance or an API body."""
        named = {"workspace_id": self.workspace.id}
        if group is not None:
            named["post_group_id"] = group["id"] if isinstance(group, dict) else group.id
        return reverse(name, kwargs=named)

    def get(self, name: str, group: Any = None, **query: str) -> Any:
        return self.http.get(self.address(name, group), query)

    def post(self, name: str, group: Any = None, *, live: bool = False, **form: Any) -> Any:
        """Submit a form; `live`: as an htmx request."""
        headers = {"HX-Request": "true"} if live else {}
        return self.http.post(self.address(name, group), form, headers=headers)

    def compose(self, action: str, *accounts: ConnectedAccount, group: Any = None, live: bool = False, **form: Any) -> Any:
        """Submit the composer with these accounts chosen; `extra` holds fields whose names are not identifiers."""
        fields = {"key": "k", "text": "Hello", **form.pop("extra", {}), **form}
        chosen = [account.id for account in accounts]
        name = "post-edit" if group else "compose"
        return self.post(name, group, live=live, action=action, account=chosen, **fields)


def the_group() -> PostGroup:
    """The only post group in the database."""
    return PostGroup.objects.get()


def words(page: Any) -> str:
    """The visible text of a page."""
    main = page.content.decode().partition("<main")[2] or page.content.decode()
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", main).split()))


def fields(page: Any, name: str) -> list[str]:
    """The values of all inputs with this name, in order."""
    return [
        html.unescape(value[1])
        for tag in re.findall(rf'<input[^>]*name="{re.escape(name)}"[^>]*>', page.content.decode())
        if (value := re.search(r'value="([^"]*)"', tag))
    ]


def typed(page: Any, name: str) -> str:
    """The content of the text area with this name; HTML drops a leading line break."""
    found = re.search(rf'<textarea[^>]*name="{re.escape(name)}"[^>]*>\n?(.*?)</textarea>', page.content.decode(), re.DOTALL)
    assert found, f"There is no text area {name}."
    return html.unescape(found[1])
