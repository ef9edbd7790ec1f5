"""Threads' stand-in for the contract suite, with one profile."""

from __future__ import annotations

from accounts.platforms.errors import CredentialsRejected, Transient
from tests.accounts.platforms.contract.world import Post, World, redirect_uri
from tests.fakes.http_server import Answer
from tests.fakes.meta import GraphRefusal, business_usage, invalid_parameter
from tests.fakes.threads import CODE, LONG, PUBLISH, REFRESH, FakeThreads
from tests.fakes.threads_oauth import CLIENT_ID, CLIENT_SECRET, OLD_ENOUGH
from tests.fakes.threads_posts import BEGINNINGS


class PlatformWorld(World):
    name = "threads"
    create, renew = PUBLISH, REFRESH
    renewable_after = OLD_ENOUGH
    finds = proves_absence = True
    ends_access = False  # Threads has no call for it
    client = (CLIENT_ID, CLIENT_SECRET)
    fixed_scopes = True
    shown = ("alice", "Alice", "https://www.threads.com/@alice")
    unauthorized = Transient  # Meta's codes say what is wrong, not the status
    unusual = {("connect", CODE): {"refused": CredentialsRejected}, ("connect", LONG): {"refused": CredentialsRejected}}

    def __init__(self) -> None:
        super().__init__()
        self.server: FakeThreads = FakeThreads()
        self.server.register_redirect(redirect_uri())
        self.server.fetch_by(lambda address: BEGINNINGS["VIDEO" if ".mp4" in address else "IMAGE"][0] + address.encode())
        self._id = self.server.add_profile("alice")

    def posts(self) -> list[Post]:
        return [
            Post(made["text"], tuple((self._bytes_of(kind, content), alt_text) for kind, content, alt_text in made["media"]))
            for made in self.server.posts("alice")
        ]

    def limit(self, seconds: int) -> Answer:
        return GraphRefusal(4, "Application request limit reached").answer(business_usage(self._id, seconds // 60))

    def rejection(self) -> Answer:
        return invalid_parameter("Invalid parameter").answer()

    def odd(self) -> Answer:
        return GraphRefusal(99_999, "Hello").answer()

    def stop_listing(self) -> None:
        self.server.list_nothing()

    def withdraw(self) -> None:
        self.server.withdraw("alice")

    def _bytes_of(self, kind: str, content: bytes) -> bytes:
        return self.fetched(content.removeprefix(BEGINNINGS[kind][0]).decode())
