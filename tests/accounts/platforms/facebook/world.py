"""Facebook's stand-in for the contract suite, with one page."""

from __future__ import annotations

from datetime import timedelta

from accounts.platforms.errors import CredentialsRejected, Transient
from tests.accounts.platforms.contract.world import IGNORED, Post, World, redirect_uri
from tests.fakes.facebook import FEED, OBJECT, TOKEN, FakeFacebook
from tests.fakes.facebook_login import CLIENT_ID, CLIENT_SECRET
from tests.fakes.http_server import Answer
from tests.fakes.meta import GraphRefusal, business_usage, invalid_parameter


class PlatformWorld(World):
    name = "facebook"
    create = FEED
    finds = proves_absence = True
    ends_access = False  # the login's end would be that of its other pages as well
    client = (CLIENT_ID, CLIENT_SECRET)
    optional_scopes = ("pages_manage_engagement", "business_management")
    shown = ("bakery", "The Bakery", "https://www.facebook.com/bakery")
    unauthorized = Transient  # Meta's codes say what is wrong, not the status
    unusual = {("publish", OBJECT): IGNORED, ("connect", TOKEN): {"refused": CredentialsRejected}}

    def __init__(self) -> None:
        super().__init__()
        self.server: FakeFacebook = FakeFacebook()
        self.server.register_redirect(redirect_uri())
        self.page = self.server.add_page("The Bakery", admin="alice", username="bakery")

    def settings(self) -> dict[str, str]:
        return {**super().settings(), "FACEBOOK_VIDEO_API_BASE": self.server.video_api_base}

    def posts(self) -> list[Post]:
        posts = [Post(made["message"], tuple(made["photos"])) for made in self.server.posts(self.page)]
        videos = [Post(made["given"]["description"], ((made["content"], None),)) for made in self.server.videos(self.page)]
        return posts + videos

    def limit(self, seconds: int) -> Answer:
        refused = GraphRefusal(32, "(#32) Page request limit reached")
        return refused.answer(business_usage(self.page, seconds // 60))

    def rejection(self) -> Answer:
        return invalid_parameter("Invalid parameter").answer()

    def odd(self) -> Answer:
        return GraphRefusal(99_999, "Hello").answer()

    def stop_listing(self) -> None:
        self.server.lag_lists(timedelta(days=1).total_seconds())

    def withdraw(self) -> None:
        self.server.withdraw("alice")
