"""Slack for the tests that all platforms share: a channel that an installed app posts to.

A text cannot be found after a lost answer, so the plainest post is an image."""

from __future__ import annotations

from accounts.platforms.errors import Transient
from tests.accounts.platforms.contract.world import Post, World, redirect_uri
from tests.fakes.http_server import Answer
from tests.fakes.slack import LIST, SHARE, UPLOAD, FakeSlack
from tests.fakes.slack_oauth import CLIENT_ID, CLIENT_SECRET


class PlatformWorld(World):
    name = "slack"
    create = SHARE
    plain = "image"
    finds = proves_absence = True
    finds_no = ("text",)
    ends_access = False  # the app's token serves the workspace's other channels
    client = (CLIENT_ID, CLIENT_SECRET)
    owner = ()
    trusted = (LIST,)  # a list of channels that cannot be read opens no account
    shown = ("#news", "#news (The Bench)", "{url}/archives/C0000000001")
    unauthorized = Transient  # Slack's codes say what is wrong, not the status
    too_large = Transient
    unusual = {("publish", UPLOAD): {"unreadable": None}}

    def __init__(self) -> None:
        super().__init__()
        self.server: FakeSlack = FakeSlack()
        self.server.register_redirect(redirect_uri())
        self._channel = self.server.add_channel("news", has_app=True)
        self.server.add_channel("random")

    @property
    def api_base(self) -> str:
        return self.server.api_base

    def posts(self) -> list[Post]:
        return [
            Post(message["text"], tuple((content, alt or None) for content, alt in message.get("files", ())))
            for message in self.server.messages(self._channel)
        ]

    def limit(self, seconds: int) -> Answer:
        return Answer.of_json({"ok": False, "error": "ratelimited"}, 429, {"Retry-After": str(seconds)})

    def rejection(self) -> Answer:
        return Answer.of_json({"ok": False, "error": "slack_connect_file_upload_sharing_blocked"})

    def odd(self) -> Answer:
        return Answer.of_json({"ok": False, "error": "a_new_reason"})

    def withdraw(self) -> None:
        self.server.remove_app()
