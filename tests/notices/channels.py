"""Helpers of the tests of notice channels: they add channels, run the worker's loop and read what arrived."""

from __future__ import annotations

from dataclasses import dataclass

from config.notices.channels.worker_loop import NoticeChannelsLoop
from config.notices.models import ChannelKind, NoticeChannel
from config.runtime.tasks import send_notices
from tests.fakes.receiver import Receiver
from tests.fakes.slack import Channel, FakeSlack
from tests.fakes.telegram import FakeTelegram
from tests.sending_loops import RunsUntilIdle, started
from workspaces.models import Workspace
from workspaces.services import MailMessage


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

    def add(self, workspace: Workspace, kind: str, *notice_kinds: str, name: str = "", language: str = "en") -> NoticeChannel:
        """Add a channel to the workspace that gets these notices, by default those about approvals."""
        return NoticeChannel.objects.create(
            workspace=workspace,
            kind=kind,
            name=name or f"The {kind} channel",
            destination=self.destination(kind),
            notice_kinds=list(notice_kinds or ["approval"]),
            language=language,
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


class LoopOfTest(RunsUntilIdle, NoticeChannelsLoop):
    """The production loop of messages to notice channels in the calling thread."""


def send_to_channels() -> None:
    """Create and queue the notices of new events, then send all messages that are due."""
    send_notices()
    with started(LoopOfTest()) as loop:
        loop.run_until_idle()
