"""Pinterest for the tests that all platforms share."""

from __future__ import annotations

from accounts.platforms.errors import ConnectionUnavailable, CredentialsRejected
from tests.accounts.platforms.contract.world import Post, World, redirect_uri
from tests.fakes.http_server import Answer
from tests.fakes.pinterest import CREATE, REVOKE, TOKEN, FakePinterest
from tests.fakes.pinterest_oauth import ACCESS_LIVES, CLIENT_ID, CLIENT_SECRET


class PlatformWorld(World):
    name = "pinterest"
    create, renew = CREATE, TOKEN
    lives = ACCESS_LIVES
    options = {"board": "Recipes"}
    shows_alt_texts = "first"
    client = (CLIENT_ID, CLIENT_SECRET)
    rotates = True
    shown = ("alice", "Alice", "https://www.pinterest.com/alice/")
    unusual = {
        ("connect", TOKEN): {"refused": CredentialsRejected, "401": ConnectionUnavailable},
        ("revoke", REVOKE): {"404 html": None},
    }

    def __init__(self) -> None:
        super().__init__()
        self.server: FakePinterest = FakePinterest()
        self.server.register_redirect(redirect_uri())
        self.server.add_person("alice")
        self.boards = self.server.add_boards("alice", "Garden", "Recipes")

    @property
    def api_base(self) -> str:
        return self.server.api_base

    def posts(self) -> list[Post]:
        return [
            Post(
                made["description"],
                tuple((content, None if index else made.get("alt_text")) for index, (_, content) in enumerate(made["files"])),
            )
            for made in self.server.pins("alice")
        ]

    def limit(self, seconds: int) -> Answer:
        return Answer.of_json({"code": 8, "message": "Too many requests"}, 429, {"x-ratelimit-reset": str(seconds)})

    def rejection(self) -> Answer:
        return Answer.of_json({"code": 1, "message": "Invalid request"}, 400)

    def odd(self) -> Answer:
        return Answer.of_json({"code": 9_999, "message": "Hello"}, 400)

    def withdraw(self) -> None:
        self.server.withdraw("alice")
