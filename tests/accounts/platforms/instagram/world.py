"""Instagram's stand-in for the contract suite, with one professional account; tests fetch the files when comparing them."""

from __future__ import annotations

from datetime import timedelta

from accounts.platforms.errors import CredentialsRejected, Transient
from tests.accounts.platforms.contract.world import IGNORED, Post, World, redirect_uri
from tests.fakes.http_server import Answer
from tests.fakes.instagram import CODE, LENGTHEN, PUBLISH, QUOTA, RENEW, FakeInstagram
from tests.fakes.instagram_login import CLIENT_ID, CLIENT_SECRET
from tests.fakes.meta import GraphRefusal, business_usage, invalid_parameter
from tests.media.pictures import jpeg
from tests.media.video_files import movie


class PlatformWorld(World):
    name = "instagram"
    create, renew = PUBLISH, RENEW
    renewable_after = timedelta(hours=24)
    finds = proves_absence = True
    ends_access = False  # Instagram has no call for it
    client = (CLIENT_ID, CLIENT_SECRET)
    optional_scopes = ("instagram_business_manage_comments",)
    shown = ("alice", "Alice", "https://www.instagram.com/alice/")
    unauthorized = Transient  # Meta's codes say what is wrong, not the status
    unusual = {
        ("publish", QUOTA): IGNORED,
        ("connect", CODE): {"refused": CredentialsRejected},
        ("connect", LENGTHEN): {"refused": CredentialsRejected},
    }

    def __init__(self) -> None:
        super().__init__()
        self.server: FakeInstagram = FakeInstagram()
        self.server.register_redirect(redirect_uri())
        self._account = self.server.add_account("alice")
        self.server.fetch_by(lambda address: self.served.get(address) or (movie() if ".mp4?" in address else jpeg()))

    def posts(self) -> list[Post]:
        return [
            Post(
                made["caption"],
                tuple(
                    (self.fetched(address), alt_text or None)
                    for address, (_, alt_text) in zip(made["addresses"], made["files"], strict=True)
                ),
            )
            for made in self.server.posts("alice")
        ]

    def limit(self, seconds: int) -> Answer:
        return GraphRefusal(80002, "(#80002) Too many calls").answer(business_usage(self._account, seconds // 60))

    def rejection(self) -> Answer:
        return invalid_parameter("Invalid parameter").answer()

    def odd(self) -> Answer:
        return GraphRefusal(99_999, "Hello").answer()

    def stop_listing(self) -> None:
        self.server.list_nothing()

    def withdraw(self) -> None:
        self.server.withdraw("alice")
