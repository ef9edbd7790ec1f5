"""Fair shares of the slots in which messages are sent to notice channels."""

from __future__ import annotations

import pytest

from config.notices.channels.queue import queue_notice_messages
from config.notices.channels.worker_loop import SHARES
from config.notices.models import ChannelMessage, NoticeChannel
from tests import factories
from tests.fakes.receiver import Manner, Receiver
from tests.notices.channels import LoopOfTest, Services, notice
from tests.sending_loops import started
from workspaces.models import Workspace

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("running_clock")]


def add_dead(services: Services, workspace: Workspace, receiver: Receiver, messages: int) -> NoticeChannel:
    """Add a channel whose receiver does not answer, with so many messages for it."""
    channel = services.add(workspace, "webhook")
    channel.destination = {"url": receiver.url}
    channel.save()
    for _ in range(messages):
        queue_notice_messages([channel], notice)
    return channel


def begin_all(loop: LoopOfTest) -> None:
    while loop.run_once():
        pass


def test_a_workspace_with_a_dead_receiver_delays_no_other_workspace(services: Services, workspace: Workspace) -> None:
    other = services.add(factories.WorkspaceFactory.create(), "webhook")
    with Receiver(otherwise=Manner.HANG) as dead, started(LoopOfTest()) as loop:
        theirs = add_dead(services, workspace, dead, messages=SHARES.slots + 10)
        begin_all(loop)
        dead.wait_for(SHARES.slow)
        queue_notice_messages([other], notice)
        begin_all(loop)
        services.receiver.wait_for(1)
        dead.release()

    assert len(dead.requests) == SHARES.slow
    waiting = ChannelMessage.objects.filter(channel=theirs, sent_at=None)
    assert set(waiting.values_list("attempts", "lease_until")) == {(0, None)}  # no attempt counts that did not begin
    assert waiting.count() == SHARES.slots + 10 - SHARES.slow


def test_dead_receivers_of_many_workspaces_leave_slots_for_one_that_answers(services: Services, workspace: Workspace) -> None:
    quick = services.add(workspace, "webhook")
    with Receiver(otherwise=Manner.HANG) as dead, started(LoopOfTest()) as loop:
        queue_notice_messages([quick], notice)
        loop.run_until_idle()
        for _ in range(SHARES.slow_together // SHARES.slow + 1):
            add_dead(services, factories.WorkspaceFactory.create(), dead, messages=SHARES.slow)
        begin_all(loop)
        dead.wait_for(SHARES.slow_together)
        queue_notice_messages([quick], notice)
        begin_all(loop)
        services.receiver.wait_for(2)
        dead.release()

    assert len(dead.requests) == SHARES.slow_together
