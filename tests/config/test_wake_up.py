"""Wake-ups of worker loops after a commit."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from queue import Empty

import pytest
from celery import Celery, current_app
from django.db import transaction
from pytest_django import Settings

from config.celery import app
from config.jobs import wake_up
from config.runtime.tasks import wake as wake_task

PATIENCE = 10.0


def sending() -> list[threading.Thread]:
    """Return the threads that are sending a wake-up now."""
    return [thread for thread in threading.enumerate() if thread.name.startswith("wake-")]


@pytest.fixture(autouse=True)
def _no_wake_up_of_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for wake-ups of earlier tests, which would suppress the next one for their loop."""
    for thread in sending():
        thread.join(PATIENCE)
    monkeypatch.setattr(wake_up, "_silent_until", 0.0)


@pytest.fixture
def heard() -> Iterator[list[str]]:
    """Record the wake-ups of this process's worker loops."""
    woken: list[str] = []
    wake_up.set_worker_loop_wake_function("publish", lambda: woken.append("publish"))
    yield woken
    wake_up.set_worker_loop_wake_function("publish", None)


def with_broker(url: str) -> Celery:
    """Use a Celery app with this broker in all threads."""
    other = Celery("wake-test", broker=url)
    other.set_default()
    other.conf.broker_transport_options = {"max_retries": 0, "polling_interval": 0.01}
    return other


@pytest.fixture
def _own_app() -> Iterator[None]:
    yield
    current_app.close()
    app.set_current()
    app.set_default()


def test_the_loop_is_woken_after_the_commit(transactional_db: None, heard: list[str]) -> None:
    with transaction.atomic():
        wake_up.wake_worker_loop_after_commit("publish")
        assert heard == []

    assert heard == ["publish"]


def test_a_rollback_wakes_no_loop(transactional_db: None, heard: list[str]) -> None:
    with transaction.atomic():
        wake_up.wake_worker_loop_after_commit("publish")
        transaction.set_rollback(True)

    assert heard == []


def test_a_wake_up_for_another_loop_is_ignored(heard: list[str]) -> None:
    wake_up.wake_worker_loop_now("deliver")

    assert heard == []


def test_a_wake_up_from_the_broker_wakes_the_loop(heard: list[str]) -> None:
    wake_task.run("publish")

    assert heard == ["publish"]


def test_without_a_broker_no_wake_up_is_sent(settings: Settings) -> None:
    settings.REDIS_URL = ""

    wake_up.wake_worker_loop_now("publish")

    assert sending() == []


@pytest.mark.usefixtures("_own_app")
def test_a_wake_up_is_sent_to_the_workers_task_through_the_broker(settings: Settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:6379/0"
    broker = with_broker("memory://wake-test")
    wake_up.wake_worker_loop_now("deliver")

    with broker.connection_for_read() as connection:
        queue = connection.SimpleQueue(broker.conf.task_default_queue)
        message = queue.get(timeout=PATIENCE)
        assert message.headers["task"] == wake_task.name == wake_up.WAKE_TASK
        assert message.payload[0] == ["deliver"]
        message.ack()
        with pytest.raises(Empty):
            queue.get(block=False)


@pytest.fixture
def silent_broker(settings: Settings) -> Iterator[socket.socket]:
    """A broker that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(PATIENCE)
        settings.REDIS_URL = f"redis://127.0.0.1:{listening.getsockname()[1]}/0"
        with_broker(settings.REDIS_URL)
        yield listening


@pytest.mark.usefixtures("_own_app")
def test_requests_do_not_wait_for_the_broker_and_failures_pause_sending(
    silent_broker: socket.socket, caplog: pytest.LogCaptureFixture, transactional_db: None
) -> None:
    with transaction.atomic():
        wake_up.wake_worker_loop_after_commit("publish")
        wake_up.wake_worker_loop_after_commit("publish")
    senders = sending()
    silent_broker.accept()[0].close()
    silent_broker.close()
    for thread in senders:
        thread.join(PATIENCE)
    wake_up.wake_worker_loop_now("publish")

    logged = [record.getMessage() for record in caplog.records if record.name == wake_up.__name__]
    assert (len(senders), len(logged)) == (1, 1)
    assert "the poll will find the row" in logged[0]
    assert sending() == []
