"""Helpers of the tests of notice channels: they add channels, run the worker's loop and read what arrived."""

from __future__ import annotations

from dataclasses import dataclass

from config.notices.channels.worker_loop import NoticeChannelsLoop
from config.notices.models import ChannelKind, NoticeChannel
from config.runtime.tasks import send_notices
from tests.fakes.receiver import Receiver
from tests.fakes.slack import Channel, FakeSlack
from tests.fakes.telegram import FakeTelegram
from workspaces.models import Workspace
from workspaces.services import MailMessage

SECONDS = 10.0


@dataclass(frozen=True)
class Services:
    """The stand-ins to which channels send: Slack with one channel, Telegram with a bot in one chat, and a receiver."""

    slack: FakeSlack
    slack_channel: Channel
    telegram: FakeTelegram
    bot: str
    chat: int
    receiver: Receiver

    def destination(self, kind: str) -> dict[str, str]:
        """Return what a person enters for a channel of this kind."""
        if kind == ChannelKind.SLACK:
            return {"webhook_url": self.slack.add_webhook(self.slack_channel)}
        if kind == ChannelKind.TELEGRAM:
            return {"bot_token": self.bot, "chat_id": str(self.chat)}
        return {"url": f"{self.receiver.url}/hook?secret=1"}

    def add(self, workspace: Workspace, kind: str, *notice_kinds: str, name: str = "") -> NoticeChannel:
        """Add a channel to the workspace that gets these notices, by default those about approvals."""
        return NoticeChannel.objects.create(
            workspace=workspace,
            kind=kind,
            name=name or f"The {kind} channel",
            destination=self.destination(kind),
            notice_kinds=list(notice_kinds or ["approval"]),
        )


def notice() -> MailMessage:
    """A notice about nothing in particular."""
    return MailMessage(
        subject="A notice",
        workspace_name="Workshop",
        happened="Something happened.",
        todo="Look at it.",
        button="Look",
        address="https://example.com/",
        until="There is time.",
        reason="",
    )


class LoopOfTest(NoticeChannelsLoop):
    """The production loop without its own thread; only the attempts are sent by another thread."""

    def start(self) -> None:
        self._sending.start()

    def run_until_idle(self) -> None:
        while (more := self.run_once()) or self._in_flight:
            if not more:
                self._awake.wait(SECONDS)
                self._awake.clear()


def send_to_channels() -> None:
    """Create and queue the notices of new events, then send all messages that are due."""
    send_notices()
    loop = LoopOfTest()
    loop.start()
    try:
        loop.run_until_idle()
    finally:
        loop.wait_for_current_work(SECONDS)
