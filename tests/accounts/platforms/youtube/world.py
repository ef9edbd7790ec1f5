"""YouTube's stand-in for the contract suite, with one channel, which accepts only videos."""

from __future__ import annotations

from accounts.platforms.errors import TokenExpired
from tests.accounts.platforms.contract.world import IGNORED, REJECTED, Post, World, redirect_uri
from tests.fakes.http_server import Answer
from tests.fakes.youtube import ASK, LAST, TOKEN, VIDEOS, FakeYouTube
from tests.fakes.youtube_oauth import ACCESS_LIVES, CLIENT_ID, CLIENT_SECRET
from tests.fakes.youtube_uploads import GoogleError


class PlatformWorld(World):
    name = "youtube"
    create, renew = LAST, TOKEN
    lives = ACCESS_LIVES
    finds = proves_absence = True
    client = (CLIENT_ID, CLIENT_SECRET)
    shown = ("alice0", "Alice0", "https://www.youtube.com/channel/UCalice0")
    unusual = {
        ("connect", TOKEN): REJECTED,
        ("publish", ASK): {"404 html": None},  # an upload that does not exist is started again
        ("publish", LAST): {"404 html": None},
        ("publish", VIDEOS): {**IGNORED, "401": TokenExpired},
    }

    def __init__(self) -> None:
        super().__init__()
        self.server: FakeYouTube = FakeYouTube()
        self.server.register_redirect(redirect_uri())
        self.server.add_channel("alice")

    def posts(self) -> list[Post]:
        return [Post(made["description"], ((made["content"], None),)) for made in self.server.videos("alice")]

    def limit(self, seconds: int) -> Answer:
        refused = GoogleError(429, "rateLimitExceeded", "Too many requests", "usageLimits").answer()
        return Answer(refused.status, refused.body, {**refused.headers, "Retry-After": str(seconds)})

    def rejection(self) -> Answer:
        return GoogleError(400, "invalidDescription", "The video's description is not valid.").answer()

    def odd(self) -> Answer:
        return GoogleError(400, "aNewReason", "Hello").answer()

    def withdraw(self) -> None:
        self.server.withdraw("alice")
