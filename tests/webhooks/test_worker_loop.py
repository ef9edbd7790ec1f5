"""DeliverLoop, which sends webhook deliveries, with real threads and receivers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from django.db import connection

from config.db.ids import ID_LENGTH
from config.outbound import async_client
from tests.conftest import ServeNames
from tests.factories import WorkspaceFactory
from tests.fakes.http_server import Answer, RawAnswer, ReceivedRequest
from tests.fakes.name_server import silent
from tests.fakes.receiver import Manner, Receiver
from tests.webhooks.rows import emit
from webhooks import sender
from webhooks.host_shares import ALL, ATTEMPT_SLOT_LIMITS, MIN_SLOTS, SENDER_LIMITS, SLOW
from webhooks.models import Delivery, DeliveryStatus
from webhooks.services import NewEvent, store_events_with_deliveries
from webhooks.worker_loop import DeliverLoop
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def loop() -> Iterator[DeliverLoop]:
    made = DeliverLoop()
    made.start()
    yield made
    if not made.stopping:
        made.stop_and_wait(5)


def event_to(workspace: Workspace, url: str, number: int) -> NewEvent:
    return NewEvent(
        workspace_id=workspace.id,
        kind="post.published",
        post_group_id=url[-ID_LENGTH:],
        sequence=number,
        trace_id="",
        sandbox=False,
        url=url,
        data={"number": number},
    )


def emit_to(workspace: Workspace, url: str, count: int) -> None:
    store_events_with_deliveries([event_to(workspace, url, number) for number in range(count)])


def test_emitted_events_are_delivered_and_recorded(workspace: Workspace, receiver: Receiver, loop: DeliverLoop) -> None:
    emit_to(workspace, receiver.url, 300)
    receiver.wait_for(300, timeout=20)
    loop.stop_and_wait(5)

    assert Delivery.objects.filter(status=DeliveryStatus.DELIVERED, attempts=1, lease_until=None).count() == 300
    assert len({request.headers["x-service-delivery-id"] for request in receiver.requests}) == 300


def test_hanging_receivers_delay_no_others_and_use_a_limited_share(
    workspace: Workspace, receiver: Receiver, loop: DeliverLoop
) -> None:
    with Receiver(otherwise=Manner.HANG) as dead, Receiver(otherwise=Manner.DRIP_HEAD) as dripping:
        emit_to(workspace, dead.url, 50)
        emit_to(workspace, dripping.url, 50)
        dead.wait_for(ATTEMPT_SLOT_LIMITS.slow)
        dripping.wait_for(ATTEMPT_SLOT_LIMITS.slow)
        emit_to(workspace, receiver.url, 50)
        receiver.wait_for(50, timeout=5)  # half of an attempt's deadline: nothing waited for the others
        loop.stop_and_wait(1)

        assert (len(dead.requests), len(dripping.requests)) == (ATTEMPT_SLOT_LIMITS.slow, ATTEMPT_SLOT_LIMITS.slow)


def test_a_workspace_whose_names_are_silent_leaves_places_for_others(
    workspace: Workspace, receiver: Receiver, loop: DeliverLoop, name_server: ServeNames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(async_client, "RESOLVE_SECONDS", 30.0)  # the whole attempt ends before that
    names = name_server(silent)
    store_events_with_deliveries(
        [event_to(workspace, f"https://h{number}.silent.example.com/", number) for number in range(300)]
    )
    share = SENDER_LIMITS[SLOW] // 2
    names.wait_for(share)
    emit_to(WorkspaceFactory(), receiver.url, 10)
    receiver.wait_for(10, timeout=5)
    held = len(set(names.lookups))
    loop.stop_and_wait(1)

    assert share <= held <= SENDER_LIMITS[ALL] // 2


def test_a_new_host_does_not_wait_for_the_attempts_to_dead_hosts_of_its_workspace(
    workspace: Workspace, receiver: Receiver, loop: DeliverLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sender, "ATTEMPT_TIMEOUT_SECONDS", 60.0)
    monkeypatch.setitem(SENDER_LIMITS, SLOW, 2 * MIN_SLOTS)
    with ExitStack() as stack:
        dead = [stack.enter_context(Receiver(otherwise=Manner.HANG)) for _ in range(MIN_SLOTS // ATTEMPT_SLOT_LIMITS.slow)]
        for each in dead:
            emit_to(workspace, each.url, 10)
        for each in dead:  # together they fill the workspace's share of slow hosts
            each.wait_for(ATTEMPT_SLOT_LIMITS.slow)
        emit_to(workspace, receiver.url, 10)
        receiver.wait_for(10, timeout=20)
        loop.stop_and_wait(1)

        assert [len(each.requests) for each in dead] == [ATTEMPT_SLOT_LIMITS.slow] * len(dead)


def test_a_slow_path_of_one_workspace_does_not_delay_another_workspace_at_the_same_host(
    workspace: Workspace, loop: DeliverLoop
) -> None:
    class TwoPaths(Receiver):
        def answer(self, request: ReceivedRequest) -> Answer | RawAnswer:
            return super().answer(request) if request.path == "/slow" else Answer(200)

    with TwoPaths(otherwise=Manner.HANG) as host:
        emit_to(workspace, f"{host.url}/slow", 50)
        host.wait_for(ATTEMPT_SLOT_LIMITS.slow)
        emit_to(WorkspaceFactory(), f"{host.url}/quick", 50)
        host.wait_for(ATTEMPT_SLOT_LIMITS.slow + 50, timeout=5)
        loop.stop_and_wait(1)

        assert [request.path for request in host.requests].count("/slow") == ATTEMPT_SLOT_LIMITS.slow


def test_stopping_waits_for_attempts_in_flight(workspace: Workspace, loop: DeliverLoop) -> None:
    with Receiver(Manner.HANG) as slow:
        emit(workspace, slow.url)
        slow.wait_for(1)
        stopping = threading.Thread(target=_in_thread(lambda: loop.stop_and_wait(10)))
        stopping.start()
        slow.release()
        stopping.join()

    delivery = Delivery.objects.get()
    assert (delivery.status, delivery.attempts) == (DeliveryStatus.DELIVERED, 1)


def test_attempts_that_do_not_finish_in_time_are_released_unchanged(workspace: Workspace, loop: DeliverLoop) -> None:
    with Receiver(Manner.HANG) as slow:
        emit(workspace, slow.url)
        slow.wait_for(1)
        loop.stop_and_wait(1)

    delivery = Delivery.objects.get()
    assert (delivery.status, delivery.attempts, delivery.lease_until) == (DeliveryStatus.PENDING, 0, None)
    assert delivery.due_at is not None


def test_a_refused_address_ends_without_a_connection(workspace: Workspace, loop: DeliverLoop) -> None:
    emit(workspace, "https://10.0.0.1/hook")
    with Receiver() as other:
        emit(workspace, other.url)
        other.wait_for(1)
    loop.stop_and_wait(5)

    assert Delivery.objects.get(host="").status == DeliveryStatus.DEAD_LETTER


def test_a_quick_host_gets_its_whole_share(workspace: Workspace, loop: DeliverLoop) -> None:
    with Receiver(200, otherwise=Manner.HANG) as turning:  # one answer: its place is free when all others are given
        emit_to(workspace, turning.url, 1 + 2 * ATTEMPT_SLOT_LIMITS.quick)
        turning.wait_for(1 + ATTEMPT_SLOT_LIMITS.quick)
        loop.stop_and_wait(1)

        assert len(turning.requests) == 1 + ATTEMPT_SLOT_LIMITS.quick


def _in_thread(work: Callable[[], None]) -> Callable[[], None]:
    def run() -> None:
        try:
            work()
        finally:
            connection.close()

    return run
