"""Connections that are reused between webhook posts."""

from __future__ import annotations

import asyncio
import socket
import threading

import pytest
from pytest_django import Settings

from config.outbound import NotSent, NotSentToForbiddenHost, SentWithoutAnswer
from config.outbound.async_client import HttpPostResponseExcerpt, create_session, post
from tests.config.outbound_servers import OK, Names, Server, answers_all
from tests.config.test_outbound_asynchronous import deliver
from tests.fakes.receiver import Manner, Receiver


@pytest.fixture(autouse=True)
def _loopback(settings: Settings) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True


def test_a_connection_is_reused_for_the_next_post() -> None:
    with Server(answers_all(OK)) as server:
        answers = deliver(server.url, server.url, server.url)

    assert [answer.excerpt for answer in answers] == [b"ok"] * 3
    assert server.accepted == 1


def test_the_connection_of_a_partly_read_answer_is_closed() -> None:
    with Server(answers_all(OK.replace(b"Length: 2", b"Length: 9"))) as server:
        answers = deliver(server.url, server.url, read_limit=1)

    assert [answer.excerpt for answer in answers] == [b"o"] * 2
    assert server.accepted == 2


def test_after_a_reused_connection_closed_the_post_is_sent_again() -> None:
    with Receiver(200, Manner.DROP, 503) as receiver:
        answers = deliver(receiver.url, receiver.url)

    assert [answer.status for answer in answers] == [200, 503]
    assert [request.body for request in receiver.requests] == [b"{}"] * 3


def test_a_post_is_not_sent_a_third_time() -> None:
    async def run(url: str) -> None:
        async with create_session(connections=10) as session:

            async def send() -> HttpPostResponseExcerpt:
                return await post(session, url, body=b"{}", headers={}, timeout=5.0)

            first, second = asyncio.create_task(send()), asyncio.create_task(send())
            await asyncio.to_thread(receiver.wait_for, 2)  # each on a connection of its own
            receiver.release()
            await asyncio.gather(first, second)
            await send()

    with Receiver(Manner.HANG, Manner.HANG, otherwise=Manner.DROP) as receiver, pytest.raises(SentWithoutAnswer):
        asyncio.run(run(receiver.url))

    assert len(receiver.requests) == 4


def test_a_post_is_sent_again_over_a_new_connection() -> None:
    both = threading.Barrier(2)

    def answers_once(connection: socket.socket, closing: threading.Event) -> None:
        if server.accepted <= 2:
            both.wait(5)
        connection.sendall(OK)
        connection.recv(65_536)

    async def run() -> HttpPostResponseExcerpt:
        async with create_session(connections=10) as session:

            async def send() -> HttpPostResponseExcerpt:
                return await post(session, server.url, body=b"{}", headers={}, timeout=5.0)

            await asyncio.gather(send(), send())
            return await send()

    with Server(answers_once) as server:
        assert asyncio.run(run()).excerpt == b"ok"

    assert server.accepted == 3


def test_the_name_is_also_resolved_for_a_reused_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    Names(monkeypatch, ["127.0.0.1"], ["10.0.0.1"])
    with Server(answers_all(OK)) as server, pytest.raises(NotSentToForbiddenHost):
        deliver(*[f"http://localhost:{server.port}/"] * 2)

    assert len(server.requests) == 1


def test_a_connection_to_an_address_that_the_name_no_longer_has_is_not_reused(monkeypatch: pytest.MonkeyPatch) -> None:
    Names(monkeypatch, ["127.0.0.1"], ["127.0.0.2"])
    with Server(answers_all(OK)) as server, pytest.raises(NotSent):
        deliver(*[f"http://localhost:{server.port}/"] * 2)

    assert len(server.requests) == 1


def test_an_unrequested_answer_is_not_returned_for_the_next_post() -> None:
    idle, sent_twice = threading.Event(), threading.Event()

    def answers_twice(connection: socket.socket, closing: threading.Event) -> None:
        connection.sendall(OK)
        idle.wait(5)
        connection.sendall(OK)
        sent_twice.set()
        closing.wait(5)

    async def run(url: str) -> None:
        async with create_session(connections=10) as session:
            await post(session, url, body=b"1", headers={}, timeout=5.0)
            idle.set()
            await asyncio.to_thread(sent_twice.wait, 5)
            await post(session, url, body=b"2", headers={}, timeout=5.0)

    with Server(answers_twice) as server:
        asyncio.run(run(server.url))

    assert [request[-1:] for request in server.requests] == [b"1", b"2"]
