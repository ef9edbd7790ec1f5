"""A browser of a person who connects an account by OAuth on the dashboard."""

from __future__ import annotations

import re
from typing import Any

from django.test import Client

from tests.accounts.oauth_calls import PAGE, Granted
from tests.fakes.oauth_platform import FakeOAuthPlatform
from tests.people import sign_in_here
from workspaces.models import User, Workspace


class Browser:
    """A browser with its cookies, in which somebody may be signed in."""

    def __init__(self, user: User | None = None) -> None:
        self.http = Client(enforce_csrf_checks=True)
        if user:
            sign_in_here(self.http, user)

    def land(self, brought: Granted) -> Any:
        """Come back from the platform."""
        return self.http.get(f"{PAGE}?{brought.query()}")

    def confirm(self, brought: Granted, choice: str = "id-alice", *, token: str | None = None) -> Any:
        """Send the form of the page that landing shows."""
        address = f"{PAGE}?{brought.query()}"
        if token is None:
            token = str(self.http.get(address).context["csrf_token"])
        return self.http.post(address, {"choice": choice, "csrfmiddlewaretoken": token})

    def begin(self, workspace: Workspace, **fields: str) -> Any:
        token = str(self.http.get("/dashboard/?all=1").context["csrf_token"])
        form = {"workspace_id": workspace.id, "platform": "pinterest", "csrfmiddlewaretoken": token, **fields}
        return self.http.post("/dashboard/connect", form)

    def begin_and_grant(self, workspace: Workspace, provider: FakeOAuthPlatform) -> Granted:
        address = self.begin(workspace)["location"]
        state = re.search("state=([^&]+)", address)
        assert state
        return Granted(state[1], provider.grant(address))


def text_of(page: Any) -> str:
    """Return the visible text of a page."""
    main = page.content.decode().partition('<main id="main"')[2].partition(">")[2]
    return " ".join(re.sub(r"<[^>]+>", "", main).split())
