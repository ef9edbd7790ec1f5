"""The asynchronous HTTP client for webhook deliveries."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from pytest_django import Settings

from config.outbound import DestinationNotAllowed, NotSent, NotSentToForbiddenHost, SentWithoutAnswer
from config.outbound.async_client import HttpPostResponseExcerpt, create_session, post
from config.outbound.connections import tls_context
from tests.config.outbound_servers import (
    OK,
    Dials,
    Names,
    Server,
    closed_port,
    drips,
    elapsed_under,
    hangs,
    replies,
    self_signed_certificate,
    silent_name_servers,
    tls_server_context,
)

PUBLIC_ADDRESS = "93.184.215.14"


@pytest.fixture(autouse=True)
def _loopback(settings: Settings) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    settings.OUTBOUND_USER_AGENT = "Publisher/1"


def deliver(*urls: str, timeout: float = 5.0, **options: Any) -> list[HttpPostResponseExcerpt]:
    """Post to each of `urls` in turn through one session."""

    async def run() -> list[HttpPostResponseExcerpt]:
        async with create_session(connections=10) as session:
            return [await post(session, url, body=b"{}", headers={"X-Id": "1"}, timeout=timeout, **options) for url in urls]

    return asyncio.run(run())


def test_the_body_is_posted_and_the_answer_returned() -> None:
    answer = b"HTTP/1.1 500 Oops\r\nRetry-After: 7\r\nContent-Length: 3\r\nSet-Cookie: a=b\r\n\r\nwhy"
    with Server(replies(answer)) as server:
        first, _ = deliver(server.url + "?a=%2F&b=c|d", server.url)

    assert (first.status, first.headers["retry-after"], first.excerpt) == (500, "7", b"why")
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert head.split(b"\r\n")[0] == b"POST /path?a=%2F&b=c|d HTTP/1.1"
    assert set(head.split(b"\r\n")[1:]) == {
        f"Host: 127.0.0.1:{server.port}".encode(),
        b"User-Agent: Publisher/1",
        b"Accept-Encoding: identity",
        b"Accept: */*",
        b"X-Id: 1",
        b"Content-Length: 2",
        b"Content-Type: application/octet-stream",
    }
    assert body == b"{}"
    assert b"Cookie" not in server.requests[1]
    assert server.accepted == 2


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_returned_and_not_followed(status: int) -> None:
    with Server(replies(OK)) as target:
        location = b"HTTP/1.1 %d Moved\r\nLocation: %b\r\nContent-Length: 0\r\n\r\n" % (status, target.url.encode())
        with Server(replies(location)) as server:
            [answer] = deliver(server.url)

    assert answer.status == status
    assert target.accepted == 0


def test_proxies_and_netrc_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login someone password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    with Server(replies(OK)) as proxy, Server(replies(OK)) as server:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        deliver(server.url)

    assert proxy.accepted == 0
    assert b"Authorization" not in server.requests[0]


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 10_000, b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 1_000_000],
    ids=["length", "until closed"],
)
def test_at_most_the_limit_of_a_long_answer_is_read(answer: bytes) -> None:
    with Server(drips(answer)) as server, elapsed_under(2):
        [read] = deliver(server.url, read_limit=100)

    assert (read.status, read.excerpt) == (200, b"x" * 100)


def test_a_compressed_answer_is_not_decompressed() -> None:
    with Server(replies(OK.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n"))) as server:
        assert deliver(server.url)[0].excerpt == b"ok"


def test_a_refused_destination_raises_destination_refused(settings: Settings) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = False
    with Server(replies(OK)) as server, pytest.raises(NotSentToForbiddenHost) as refused:
        deliver(server.url)

    assert isinstance(refused.value.__cause__, DestinationNotAllowed)
    assert server.accepted == 0


def test_no_connection_is_made_when_one_of_the_addresses_is_private(monkeypatch: pytest.MonkeyPatch) -> None:
    Names(monkeypatch, [PUBLIC_ADDRESS, "10.0.0.1"])
    dials = Dials(monkeypatch)

    with pytest.raises(NotSentToForbiddenHost):
        deliver("https://hooks.example.com/")

    assert dials.addresses == []


def test_a_name_that_changes_its_address_gets_the_checked_one(monkeypatch: pytest.MonkeyPatch) -> None:
    names = Names(monkeypatch, [PUBLIC_ADDRESS], ["127.0.0.1"])
    dials = Dials(monkeypatch)

    with pytest.raises(NotSent):
        deliver("https://hooks.example.com/")
    with pytest.raises(NotSentToForbiddenHost):
        deliver("https://hooks.example.com/")

    assert names.lookups == ["hooks.example.com", "hooks.example.com"]
    assert dials.addresses == [PUBLIC_ADDRESS]


def test_the_session_does_not_connect_to_private_addresses(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = False
    dials = Dials(monkeypatch)

    async def run() -> None:
        async with create_session(connections=1) as session:
            await session.get("https://10.0.0.1/")

    with pytest.raises(aiohttp.ClientConnectorError, match="not public"):
        asyncio.run(run())

    assert dials.addresses == []


def test_a_name_that_does_not_resolve_raises_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    Names(monkeypatch, [])

    with pytest.raises(NotSent, match=r"hooks\.example\.com does not resolve\."):
        deliver("https://hooks.example.com/")


def test_a_hanging_lookup_ends_at_the_total_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    silent_name_servers(monkeypatch)
    with elapsed_under(2), pytest.raises(SentWithoutAnswer, match=r"within 0\.1 s"):
        deliver("https://hooks.example.com/", timeout=0.1)


def test_a_refused_connection_raises_not_sent() -> None:
    with pytest.raises(NotSent, match="Connect call failed"):
        deliver(f"http://127.0.0.1:{closed_port()}/")


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200",
        b"HTTP/1.1 200 OK\r\nContent-",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nhalf",
        b"HTTP/1.1 103 Early Hints\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\nA: " + b"b" * 70_000 + b"\r\n\r\n",
    ],
    ids=["nothing", "status", "headers", "body", "chunk", "interim", "another protocol", "a long header"],
)
def test_a_broken_answer_raises_no_answer(answer: bytes) -> None:
    with Server(replies(answer)) as server, pytest.raises(SentWithoutAnswer):
        deliver(server.url)

    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 ",
        b"HTTP/1.1 200 OK\r\nA: ",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n",
    ],
    ids=["status", "header", "body until closed", "body"],
)
def test_a_dripping_server_is_disconnected_at_the_total_deadline(answer: bytes) -> None:
    with Server(drips(answer)) as server, elapsed_under(2), pytest.raises(SentWithoutAnswer, match=r"within 0\.3 s"):
        deliver(server.url, timeout=0.3)


def test_a_silent_receiver_does_not_delay_others() -> None:
    async def run(slow: str, fast: str) -> list[Any]:
        async with create_session(connections=10) as session:
            posts = [
                post(session, url, body=b"{}", headers={}, timeout=timeout)
                for url, timeout in ((slow, 0.3), (fast, 5.0), (slow, 0.3), (fast, 5.0))
            ]
            return await asyncio.gather(*posts, return_exceptions=True)

    with Server(hangs) as silent, Server(replies(OK)) as server, elapsed_under(2):
        outcomes = asyncio.run(run(silent.url, server.url))

    assert [type(outcome) for outcome in outcomes] == [
        SentWithoutAnswer,
        HttpPostResponseExcerpt,
        SentWithoutAnswer,
        HttpPostResponseExcerpt,
    ]


def test_tls_sends_the_host_name_and_checks_the_certificate_against_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    certificate = self_signed_certificate(tmp_path / "localhost.pem", "localhost")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    tls_context.cache_clear()
    names: list[str | None] = []
    with Server(replies(OK), tls=tls_server_context(certificate, names.append)) as server:
        [answer] = deliver(f"https://localhost:{server.port}/")
        with pytest.raises(NotSent):
            deliver(f"https://127.0.0.1:{server.port}/")
    tls_context.cache_clear()

    assert answer.excerpt == b"ok"
    assert names[0] == "localhost"
    assert [request.split(b"\r\n")[1] for request in server.requests] == [f"Host: localhost:{server.port}".encode()]


def test_an_untrusted_certificate_raises_not_sent(tmp_path: Path) -> None:
    certificate = self_signed_certificate(tmp_path / "localhost.pem", "localhost")
    server = Server(replies(OK), tls=tls_server_context(certificate))
    with server, pytest.raises(NotSent, match="ClientConnectorCertificateError"):
        deliver(f"https://localhost:{server.port}/")

    assert server.requests == []
