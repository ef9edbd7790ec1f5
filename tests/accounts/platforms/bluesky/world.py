"""Bluesky in the contract suite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from accounts.platforms.errors import ReauthRequired, Transient
from accounts.platforms.types import Grant
from tests.accounts.platforms.contract.world import IGNORED, REJECTED_IF_UNREADABLE, Post, World
from tests.fakes.bluesky import GET_PROFILE, FakeBluesky
from tests.fakes.http_server import Answer
from tests.fakes.xrpc import invalid_request

HANDLE, APP_PASSWORD = "alice.test", "abcd-efgh-ijkl-mnop"
END = "com.atproto.server.deleteSession"


class PlatformWorld(World):
    name, method = "bluesky", "credentials"
    create, renew = "com.atproto.repo.putRecord", "com.atproto.server.refreshSession"
    lives = timedelta(hours=2)
    finds = proves_absence = True
    shown = ("alice.test", "", "https://bsky.app/profile/{id}")
    unauthorized = ReauthRequired
    unusual = {
        ("connect", "com.atproto.server.createSession"): REJECTED_IF_UNREADABLE,
        ("connect", GET_PROFILE): IGNORED,
        ("identify", GET_PROFILE): IGNORED,
        ("refresh", renew): {"401": ReauthRequired},
        ("revoke", END): {"html": Transient, "list": Transient, "deep": Transient, "401": None},
    }

    def __init__(self) -> None:
        super().__init__()
        self.server: FakeBluesky = FakeBluesky()
        self._did = self.server.add_account(HANDLE, APP_PASSWORD)

    def credentials(self) -> dict[str, str]:
        return {"identifier": HANDLE, "app_password": APP_PASSWORD, "service": self.server.url}

    def settings(self) -> dict[str, str]:
        return {**super().settings(), "BLUESKY_VIDEO_API_BASE": self.server.video.url}

    def posts(self) -> list[Post]:
        blobs = {blob.cid: blob.data for blob in self.server.blobs(self._did)}
        values = [record["value"] for record in self.server.records(self._did)]
        return [Post(value["text"], tuple(_files(value.get("embed") or {}, blobs))) for value in values]

    def add_person(self, name: str) -> str:
        self.server.show_profile(self.server.add_account(f"{name}.test", ""), name.capitalize())
        return f"@{name}.test"

    def limit(self, seconds: int) -> Answer:
        return Answer.of_json({"error": "RateLimitExceeded"}, 429, {"Retry-After": str(seconds)})

    def rejection(self) -> Answer:
        return invalid_request("Invalid app.bsky.feed.post record").answer()

    def odd(self) -> Answer:
        return Answer.of_json({"error": "RecordTooOdd", "message": "Hello"}, 409)

    def withdraw(self) -> None:
        self.server.take_down(self._did)

    def expire(self, clock: Any) -> None:
        self.server.expire_access_tokens()

    def is_open(self, grant: Grant) -> bool:
        """Access tokens outlive their session for a while; the app password is its owner's to end."""
        return self.server.requests_to(END) == 0


def _files(embed: Mapping[str, Any], blobs: Mapping[str, bytes]) -> Iterator[tuple[bytes, str | None]]:
    for image in embed.get("images", []):
        yield blobs[image["image"]["ref"]["$link"]], image["alt"] or None
    if "video" in embed:
        yield blobs[embed["video"]["ref"]["$link"]], embed.get("alt")
