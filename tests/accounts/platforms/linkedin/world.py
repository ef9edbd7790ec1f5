"""LinkedIn for the tests that all platforms share: a member's own account, the first of those that a login opens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.accounts.platforms.contract.world import REJECTED, Post, World, redirect_uri
from tests.fakes.http_server import Answer
from tests.fakes.linkedin import FakeLinkedIn
from tests.fakes.linkedin_methods import CREATE, TOKEN
from tests.fakes.linkedin_oauth import ACCESS_LIVES, CLIENT_ID, CLIENT_SECRET
from tests.fakes.linkedin_store import Refusal


class PlatformWorld(World):
    name = "linkedin"
    create, renew = CREATE, TOKEN
    lives = ACCESS_LIVES
    ends_access = False  # LinkedIn has no call for it
    client = (CLIENT_ID, CLIENT_SECRET)
    owner = ("Alice",)
    shown = ("Alice", "Alice", "")
    unusual = {("connect", TOKEN): REJECTED}

    def __init__(self) -> None:
        super().__init__()
        self.server: FakeLinkedIn = FakeLinkedIn()
        self.server.register_redirect(redirect_uri())
        self._urn = self.server.add_member("Alice", pages={"2414183": "Acme"})

    def posts(self) -> list[Post]:
        return [
            Post(made["text"], tuple(zip(made["media"], _alt_texts(made["content"]), strict=True)))
            for made in self.server.posts(self._urn)
        ]

    def limit(self, seconds: int) -> Answer:
        refused = Refusal(429, "Resource level throttle limit reached", "TOO_MANY_REQUESTS").answer()
        return Answer(refused.status, refused.body, {**refused.headers, "Retry-After": str(seconds)})

    def rejection(self) -> Answer:
        return Refusal(422, "ERROR :: /commentary :: is not valid", "UNPROCESSABLE_ENTITY").answer()

    def odd(self) -> Answer:
        return Refusal(418, "Hello", "A_NEW_CODE").answer()

    def withdraw(self) -> None:
        self.server.withdraw("Alice")


def _alt_texts(content: Mapping[str, Any]) -> list[str | None]:
    """Of the media in order; None for those that have none."""
    if "multiImage" in content:
        return [image.get("altText") for image in content["multiImage"]["images"]]
    return [content["media"].get("altText")] if "media" in content else []
