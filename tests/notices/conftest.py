"""Stand-ins of the services to which notice channels send, and a clock that tests move."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest
import time_machine

from config.notices.sending import create_and_queue_notices
from tests.fakes.receiver import Receiver
from tests.fakes.slack import FakeSlack
from tests.fakes.telegram import FakeTelegram
from tests.notices.channels import Services
from tests.notices.rounds import real_account, scheduled
from tests.posts.rows import NOON
from workspaces.models import Workspace


@pytest.fixture
def services(settings: Any) -> Iterator[Services]:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with ExitStack() as running:
        slack, telegram = running.enter_context(FakeSlack()), running.enter_context(FakeTelegram())
        receiver = running.enter_context(Receiver())
        settings.PLATFORM_SETTINGS = {"SLACK_API_BASE": slack.api_base, "TELEGRAM_API_BASE": telegram.url}
        bot, chat = telegram.add_bot("news_bot"), telegram.add_chat("supergroup", "News")
        telegram.set_member(chat, bot, "member")
        yield Services(slack, slack.add_channel(), telegram, bot, chat, receiver)


@pytest.fixture
def running_clock(db: None) -> Iterator[time_machine.Traveller]:
    """A clock that tests move, in a service that has been running for an hour."""
    with time_machine.travel(NOON, tick=False) as traveller:
        create_and_queue_notices()
        traveller.shift(timedelta(hours=1))
        yield traveller


@pytest.fixture
def waiting_post(running_clock: time_machine.Traveller, workspace: Workspace, agent_client: Any) -> dict[str, Any]:
    """A post that waits for approval."""
    return scheduled(agent_client(default_mode="requires_confirmation"), real_account(workspace))
