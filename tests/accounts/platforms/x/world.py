"""X for the tests that all platforms share."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.accounts.platforms.contract.world import REJECTED, Post, World, redirect_uri
from tests.fakes.http_server import Answer
from tests.fakes.x import FakeX
from tests.fakes.x_methods import CREATE, TOKEN
from tests.fakes.x_oauth import ACCESS_LIVES, CLIENT_ID, CLIENT_SECRET
from tests.fakes.x_problems import Problem, forbidden


class PlatformWorld(World):
    name = "x"
    create, renew = CREATE, TOKEN
    lives = ACCESS_LIVES
    finds = proves_absence = True
    client = (CLIENT_ID, CLIENT_SECRET)
    ending = ("invalid_request",)  # X's answer to a refresh token that it does not know
    rotates = True
    shown = ("alice", "Alice", "https://x.com/alice")
    unusual = {("connect", TOKEN): REJECTED}

    def __init__(self) -> None:
        super().__init__()
        self.server: FakeX = FakeX()
        self.server.register_redirect(redirect_uri())
        self.server.add_person("alice")

    def posts(self) -> list[Post]:
        return [
            Post(
                made["text"],
                tuple((content, alt_text) for _, content, alt_text in made["media"]),
                tuple(made["poll"]["options"]) if made["poll"] else (),
            )
            for made in self.server.posts("alice")
        ]

    def limit(self, seconds: int) -> Answer:
        reset = int(datetime.now(UTC).timestamp()) + seconds
        headers = {"x-rate-limit-remaining": "0", "x-rate-limit-reset": str(reset)}
        return Answer.of_json({"title": "Too Many Requests"}, 429, headers)

    def rejection(self) -> Answer:
        return forbidden("You are not permitted to perform this action.").answer()

    def odd(self) -> Answer:
        return Problem(403, "Hello", "Hello", "a-new-problem").answer()

    def stop_listing(self) -> None:
        self.server.list_nothing()

    def withdraw(self) -> None:
        self.server.withdraw("alice")
