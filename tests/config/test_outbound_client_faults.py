"""The HTTP client's errors: NotSent or SentWithoutAnswer, by the kind of failure."""

from __future__ import annotations

import socket
import struct
import threading

import pytest
from pytest_django import Settings

from config.outbound import (
    DestinationNotAllowed,
    NotSent,
    NotSentToForbiddenHost,
    OutboundError,
    ResponseTooLarge,
    SentWithoutAnswer,
    request,
)
from tests.config.outbound_servers import (
    Names,
    Server,
    closed_port,
    drips,
    elapsed_under,
    hangs,
    replies,
    silent_name_servers,
)


@pytest.fixture(autouse=True)
def _loopback(settings: Settings) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True


def resets(connection: socket.socket, closing: threading.Event) -> None:
    """Close the connection with a TCP reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def test_all_errors_are_outbound_errors_and_response_too_large_is_a_no_answer() -> None:
    assert issubclass(NotSentToForbiddenHost, NotSent)
    assert issubclass(ResponseTooLarge, SentWithoutAnswer)
    assert issubclass(NotSent, OutboundError)
    assert issubclass(SentWithoutAnswer, OutboundError)
    assert not issubclass(NotSent, SentWithoutAnswer)


def test_a_refused_destination_raises_destination_refused(settings: Settings) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = False
    with Server(replies(b"")) as server, pytest.raises(NotSentToForbiddenHost) as refused:
        request("POST", server.url, data=b"x")

    assert isinstance(refused.value.__cause__, DestinationNotAllowed)
    assert str(refused.value) == refused.value.__cause__.reason
    assert server.accepted == 0


def test_a_name_with_a_private_address_raises_destination_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    Names(monkeypatch, ["93.184.215.14", "10.0.0.1"])

    with pytest.raises(NotSentToForbiddenHost):
        request("POST", "https://hooks.example.com/", data=b"x")


def test_a_name_that_does_not_resolve_raises_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    Names(monkeypatch, [])

    with pytest.raises(NotSent, match=r"hooks\.example\.com does not resolve\."):
        request("POST", "https://hooks.example.com/", data=b"x")


def test_a_hanging_lookup_raises_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    silent_name_servers(monkeypatch)
    with elapsed_under(2), pytest.raises(NotSent, match="in time"):
        request("POST", "https://hooks.example.com/", data=b"x", timeout=0.1)


def test_a_refused_connection_raises_not_sent() -> None:
    with pytest.raises(NotSent, match="ConnectionRefusedError: Connection refused"):
        request("POST", f"http://127.0.0.1:{closed_port()}/", data=b"x")


def test_a_hanging_connection_attempt_raises_not_sent() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        filling_the_backlog = socket.create_connection(("127.0.0.1", port))  # the next one waits for ever
        with filling_the_backlog, elapsed_under(2), pytest.raises(NotSent):
            request("POST", f"http://127.0.0.1:{port}/", data=b"x", timeout=0.2)


@pytest.mark.parametrize("value", ["a\r\nInjected: b", "€"])
def test_an_invalid_header_raises_not_sent_and_is_not_quoted(value: str) -> None:
    with Server(replies(b"")) as server, pytest.raises(NotSent) as unsent:
        request("POST", server.url, headers={"Authorization": value}, data=b"x")

    assert server.requests == []
    assert value not in str(unsent.value)


def test_a_server_that_closes_without_an_answer_raises_no_answer() -> None:
    with Server(replies(b"")) as server, pytest.raises(SentWithoutAnswer):
        request("POST", server.url, data=b"x")

    assert len(server.requests) == 1


def test_a_server_that_closes_before_it_reads_raises_no_answer() -> None:
    with Server(resets, reads=False) as server, pytest.raises(SentWithoutAnswer):
        request("POST", server.url, data=b"x" * 1_000_000)


def test_a_reset_after_the_request_raises_no_answer() -> None:
    with Server(resets) as server, pytest.raises(SentWithoutAnswer):
        request("POST", server.url, data=b"x")

    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200",
        b"HTTP/1.1 200 OK\r\nContent-",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 103 Early Hints\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 200 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nA: " + b"b" * 70_000 + b"\r\n\r\n",
    ],
    ids=["status", "headers", "body", "chunk", "chunk size", "interim", "another protocol", "many headers", "a long header"],
)
def test_a_broken_answer_raises_no_answer(answer: bytes) -> None:
    with Server(replies(answer)) as server, pytest.raises(SentWithoutAnswer):
        request("POST", server.url, data=b"x")


def test_a_silent_server_is_disconnected_at_the_deadline() -> None:
    with Server(hangs) as server, elapsed_under(2), pytest.raises(SentWithoutAnswer):
        request("POST", server.url, data=b"x", timeout=0.2)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 ",
        b"HTTP/1.1 200 OK\r\nA: ",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n",
    ],
    ids=["first byte", "status", "header", "interim answer", "body until closed", "body"],
)
def test_a_dripping_server_is_disconnected_at_the_total_deadline(answer: bytes) -> None:
    with Server(drips(answer)) as server, elapsed_under(2), pytest.raises(SentWithoutAnswer):
        request("POST", server.url, data=b"x", timeout=0.3)


def test_a_server_that_does_not_read_a_large_body_is_disconnected_at_the_deadline() -> None:
    with Server(hangs, reads=False) as server, elapsed_under(2), pytest.raises(SentWithoutAnswer):
        request("POST", server.url, data=b"x" * 30_000_000, timeout=0.3)


def test_a_slow_answer_within_the_deadline_is_returned() -> None:
    def slow(connection: socket.socket, closing: threading.Event) -> None:
        for piece in (b"HTTP/1.1 200 OK\r\n", b"Content-Length: 2\r\n\r\n", b"o", b"k"):
            closing.wait(0.03)
            connection.sendall(piece)

    with Server(slow) as server:
        assert request("POST", server.url, data=b"x", timeout=5).body == b"ok"
