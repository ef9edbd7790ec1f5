"""Pinned connections: they go to the checked address, and the certificate is checked against the host name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from config.outbound import NotSent, NotSentToForbiddenHost, SentWithoutAnswer, request
from config.outbound.connections import tls_context
from tests.config.outbound_servers import (
    OK,
    Dials,
    Names,
    Server,
    drips,
    elapsed_under,
    hangs,
    replies,
    self_signed_certificate,
    tls_server_context,
)

PUBLIC_ADDRESS = "93.184.215.14"


@pytest.fixture(autouse=True)
def _loopback(settings: Settings) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True


@pytest.fixture
def localhost_certificate(tmp_path: Path) -> Path:
    return self_signed_certificate(tmp_path / "localhost.pem", "localhost")


@pytest.fixture
def trusted_localhost_certificate(localhost_certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SSL_CERT_FILE", str(localhost_certificate))
    tls_context.cache_clear()
    yield localhost_certificate
    tls_context.cache_clear()


def test_a_name_that_changes_its_address_gets_the_checked_one(monkeypatch: pytest.MonkeyPatch) -> None:
    names = Names(monkeypatch, [PUBLIC_ADDRESS], ["127.0.0.1"])
    dials = Dials(monkeypatch)

    with pytest.raises(NotSent):
        request("POST", "https://hooks.example.com/", data=b"x")

    assert names.lookups == ["hooks.example.com"]
    assert dials.addresses == [PUBLIC_ADDRESS]


def test_no_connection_is_made_when_one_of_the_addresses_is_private(monkeypatch: pytest.MonkeyPatch) -> None:
    Names(monkeypatch, [PUBLIC_ADDRESS, "10.0.0.1"])
    dials = Dials(monkeypatch)

    with pytest.raises(NotSentToForbiddenHost):
        request("POST", "https://hooks.example.com/", data=b"x")

    assert dials.addresses == []


def test_each_request_resolves_the_name_again(monkeypatch: pytest.MonkeyPatch) -> None:
    Names(monkeypatch, [PUBLIC_ADDRESS], ["127.0.0.1"])
    dials = Dials(monkeypatch)

    with pytest.raises(NotSent):
        request("POST", "https://hooks.example.com/", data=b"x")
    with pytest.raises(NotSentToForbiddenHost):
        request("POST", "https://hooks.example.com/", data=b"x")

    assert dials.addresses == [PUBLIC_ADDRESS]


def test_a_connection_to_another_peer_is_closed_before_a_byte_is_sent(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = False
    Names(monkeypatch, [PUBLIC_ADDRESS])
    with Server(replies(OK)) as server:
        Dials(monkeypatch, redirect_port=server.port)
        with pytest.raises(NotSentToForbiddenHost, match="ended at an address that is not public"):
            request("POST", "https://hooks.example.com/", data=b"x")

    assert server.requests == []


def test_the_next_address_is_tried_when_one_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    with Server(replies(OK)) as server:
        Names(monkeypatch, ["127.0.0.2", "127.0.0.1"])  # the server listens on the second only
        response = request("GET", f"http://localhost:{server.port}/")

    assert response.body == b"ok"
    assert f"Host: localhost:{server.port}\r\n".encode() in server.requests[0]


def test_an_ipv6_address_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    dials = Dials(monkeypatch)

    with pytest.raises(NotSent, match="ConnectionRefusedError"):
        request("GET", "http://[::1]:8001/")

    assert dials.addresses == ["::1"]


def test_tls_sends_the_host_name_and_checks_the_certificate_against_it(trusted_localhost_certificate: Path) -> None:
    names: list[str | None] = []
    with Server(replies(OK), tls=tls_server_context(trusted_localhost_certificate, names.append)) as server:
        response = request("POST", f"https://localhost:{server.port}/", data=b"x")

    assert response.body == b"ok"
    assert names == ["localhost"]
    assert f"Host: localhost:{server.port}\r\n".encode() in server.requests[0]


def test_a_certificate_for_another_name_raises_not_sent(trusted_localhost_certificate: Path) -> None:
    server = Server(replies(OK), tls=tls_server_context(trusted_localhost_certificate))
    with server, pytest.raises(NotSent, match="SSLCertVerificationError"):
        request("POST", f"https://127.0.0.1:{server.port}/", data=b"x")

    assert server.requests == []


def test_an_untrusted_certificate_raises_not_sent(localhost_certificate: Path) -> None:
    server = Server(replies(OK), tls=tls_server_context(localhost_certificate))
    with server, pytest.raises(NotSent, match="self-signed certificate"):
        request("POST", f"https://localhost:{server.port}/", data=b"x")

    assert server.requests == []


def test_a_server_without_tls_raises_not_sent() -> None:
    with Server(replies(b"HTTP/1.1 400 Bad\r\n\r\n"), reads=False) as server, pytest.raises(NotSent):
        request("POST", f"https://localhost:{server.port}/", data=b"x")


def test_a_stalled_handshake_raises_not_sent() -> None:
    with Server(hangs, reads=False) as server, elapsed_under(2), pytest.raises(NotSent):
        request("POST", f"https://localhost:{server.port}/", data=b"x", timeout=0.2)


@pytest.mark.parametrize("answer", [b"HTTP/1.1 200 ", b"HTTP/1.1 200 OK\r\n\r\n"], ids=["status", "body"])
def test_a_dripping_server_is_disconnected_at_the_total_deadline_over_tls(
    trusted_localhost_certificate: Path, answer: bytes
) -> None:
    server = Server(drips(answer), tls=tls_server_context(trusted_localhost_certificate))
    with server, elapsed_under(2), pytest.raises(SentWithoutAnswer):
        request("POST", f"https://localhost:{server.port}/", data=b"x", timeout=0.3)


def test_a_server_that_never_reads_is_disconnected_at_the_deadline_over_tls(trusted_localhost_certificate: Path) -> None:
    context = tls_server_context(trusted_localhost_certificate)
    with Server(hangs, tls=context, reads=False) as server, elapsed_under(2), pytest.raises(SentWithoutAnswer):
        request("POST", f"https://localhost:{server.port}/", data=b"x" * 30_000_000, timeout=0.3)
