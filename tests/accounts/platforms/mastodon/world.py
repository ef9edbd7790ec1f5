"""Mastodon in the contract suite: a server that ignores idempotency keys, and Takahe."""

from __future__ import annotations

from accounts.platforms.errors import ReauthRequired, Transient
from tests.accounts.platforms.contract.world import IGNORED, REJECTED, REJECTED_IF_UNREADABLE, Post, World
from tests.fakes.http_server import Answer
from tests.fakes.mastodon import FakeMastodon
from tests.fakes.mastodon_documents import METADATA, NODEINFO, NODEINFO_LINKS
from tests.fakes.mastodon_methods import CREATE, INSTANCE, LIST, SEARCH, VERIFY
from tests.fakes.mastodon_oauth import REGISTER, TOKEN
from tests.fakes.mastodon_requests import Refusal
from tests.fakes.mastodon_takahe import FakeTakahe

EXTRAS = (METADATA, NODEINFO_LINKS, NODEINFO, INSTANCE)  # documents that a server may lack


class PlatformWorld(World):
    name = "mastodon"
    create = CREATE
    finds = proves_absence = True
    trusted = (REGISTER,)  # an altered client id has no consent page at the stand-in
    fixed_scopes = True
    shown = ("alice@{host}", "Alice", "{url}/@alice")
    unauthorized = ReauthRequired
    unusual = {
        ("connect", REGISTER): REJECTED_IF_UNREADABLE,
        ("connect", TOKEN): REJECTED,
        ("connect", VERIFY): REJECTED_IF_UNREADABLE,
        ("connect", LIST): {**REJECTED_IF_UNREADABLE, "list": None, "404 html": None},
        ("publish", LIST): {"list": None, "404 html": None},
        ("find_people", SEARCH): {"list": None},
        **{(act, call): IGNORED for act in ("connect", "identify") for call in EXTRAS},
    }

    def __init__(self) -> None:
        super().__init__()
        self.server: FakeMastodon = FakeMastodon(honours_idempotency_key=False)
        self.server.add_account("alice")

    def given(self) -> dict[str, str]:
        return {"instance": self.server.url}

    def posts(self) -> list[Post]:
        uploads = {each["id"]: (each["content"], each["description"] or None) for each in self.server.uploads("alice")}
        return [
            Post(
                status["text"],
                tuple(uploads[media_id] for media_id in status["media"]),
                status["poll"].options if status["poll"] else (),
            )
            for status in self.server.statuses("alice")
        ]

    def add_person(self, name: str) -> str:
        self.server.know(name, "remote.example")
        return f"@{name}@remote.example"

    def limit(self, seconds: int) -> Answer:
        return Answer.of_json({"error": "Too many requests"}, 429, {"Retry-After": str(seconds)})

    def rejection(self) -> Answer:
        return Refusal(422, "Validation failed: Text is not allowed here").answer()

    def odd(self) -> Answer:
        return Refusal(409, "Hello").answer()

    def stop_listing(self) -> None:
        self.server.list_no_private()
        self.options = {"visibility": "private"}

    def withdraw(self) -> None:
        self.server.revoke_tokens("alice")


class TakaheWorld(PlatformWorld):
    takes_no = ("video",)
    refused_code = Transient  # Takahē fails where it is given a code that it does not know

    def __init__(self) -> None:
        super().__init__()
        self.server = FakeTakahe()
        self.server.add_account("alice")

    def rejection(self) -> Answer:
        return Refusal(400, "Status is too long").answer()


OTHER_SOFTWARE = {"takahe": TakaheWorld}
