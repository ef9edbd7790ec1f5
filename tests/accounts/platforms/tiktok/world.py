"""TikTok's stand-in for the contract suite, with one creator. TikTok fetches photos itself."""

from __future__ import annotations

from django.conf import settings as project

from accounts.platforms.errors import TokenExpired, Transient
from tests.accounts.platforms.contract.world import IGNORED, REJECTED, Post, World, redirect_uri
from tests.fakes.http_server import Answer
from tests.fakes.tiktok import LAST, REVOKE, STATUS, TOKEN, FakeTikTok
from tests.fakes.tiktok_oauth import ACCESS_LIVES, CLIENT_KEY, CLIENT_SECRET
from tests.fakes.tiktok_posts import TikTokRefusal

PREFIX = f"{project.BASE_URL}/files/"


class PlatformWorld(World):
    name = "tiktok"
    plain = "video"
    create, renew = LAST, TOKEN
    lives = ACCESS_LIVES
    options = {"privacy_level": "PUBLIC_TO_EVERYONE"}
    shows_alt_texts = "none"
    finds = proves_absence = True
    pause = 60  # TikTok names no pause; its limits are per minute
    finds_no = ("image", "images")  # which get no publish id before they are published
    client = (CLIENT_KEY, CLIENT_SECRET)
    rotates = True
    shown = ("alice", "Alice", "https://www.tiktok.com/@alice")
    says_when = False
    unusual = {
        ("connect", TOKEN): REJECTED,
        ("revoke", REVOKE): {"401": None},
        ("publish", STATUS): {**IGNORED, "401": TokenExpired},
        ("publish", LAST): {"403 html": None, "404 html": None, "401": Transient},  # the upload is announced again
    }

    def __init__(self) -> None:
        super().__init__()
        self.server: FakeTikTok = FakeTikTok()
        self.server.register_redirect(redirect_uri())
        self.server.add_creator("alice")
        self.server.verify(PREFIX)

    def settings(self) -> dict[str, str]:
        return {**super().settings(), "TIKTOK_VERIFIED_PREFIX": PREFIX}

    def posts(self) -> list[Post]:
        return [
            Post(
                made.get("description") or made["title"],
                tuple((self.fetched(url), None) for url in made["urls"]) or ((made["content"], None),),
            )
            for made in self.server.posts("alice")
        ]

    def limit(self, seconds: int) -> Answer:
        return TikTokRefusal(429, "rate_limit_exceeded").answer()

    def rejection(self) -> Answer:
        return TikTokRefusal(400, "invalid_params").answer()

    def odd(self) -> Answer:
        return TikTokRefusal(418, "a_new_code", "Hello").answer()

    def withdraw(self) -> None:
        self.server.withdraw("alice")
