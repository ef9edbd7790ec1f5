"""TCP servers on loopback that answer well, badly or not at all, and certificates for them."""

from __future__ import annotations

import contextlib
import datetime
import ipaddress
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Any, Self

import pycares
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

Behaviour = Callable[[socket.socket, threading.Event], None]


def replies(answer: bytes) -> Behaviour:
    """Send `answer` and close."""
    return lambda connection, closing: connection.sendall(answer)


def answers_all(answer: bytes) -> Behaviour:
    """Send `answer` to every request on the connection."""

    def behave(connection: socket.socket, closing: threading.Event) -> None:
        while not closing.is_set():
            connection.sendall(answer)
            _read_request(connection)

    return behave


def drips(answer: bytes) -> Behaviour:
    """Send `answer`, then one byte each 20 ms for as long as the server lives."""

    def behave(connection: socket.socket, closing: threading.Event) -> None:
        connection.sendall(answer)
        while not closing.wait(0.02):
            connection.sendall(b"x")

    return behave


def hangs(connection: socket.socket, closing: threading.Event) -> None:
    """Send no answer while the server runs."""
    closing.wait()


class Server:
    """A TCP server on 127.0.0.1 that stores each request and answers with `behave` in a thread.

    Without `reads` the request is not read. `requests` lists the requests that were read, `accepted` counts connections.
    """

    def __init__(self, behave: Behaviour, *, tls: ssl.SSLContext | None = None, reads: bool = True) -> None:
        self.requests: list[bytes] = []
        self.accepted = 0
        self._behave = behave
        self._tls = tls
        self._reads = reads
        self._closing = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)

    @property
    def url(self) -> str:
        """The server's address without TLS."""
        return f"http://127.0.0.1:{self.port}/path"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._closing.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def _accept(self) -> None:
        threads = []
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.accepted += 1
                threads.append(threading.Thread(target=self._serve, args=(connection,), daemon=True))
                threads[-1].start()
        for thread in threads:
            thread.join()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), contextlib.closing(connection):
            connection.settimeout(5)
            if self._tls:
                connection = self._tls.wrap_socket(connection, server_side=True)
            if self._reads:
                request = _read_request(connection)
                self.requests.append(request)
            else:
                select.select([connection], [], [], 5)  # until the request begins to come, which is then left unread
            self._behave(connection, self._closing)
            connection.close()


def _read_request(connection: socket.socket) -> bytes:
    request = b""
    while b"\r\n\r\n" not in request:
        request += _more(connection)
    head, _, body = request.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
    while len(body) < length:
        body += _more(connection)
    return head + b"\r\n\r\n" + body


def _more(connection: socket.socket) -> bytes:
    data = connection.recv(65_536)
    if not data:
        raise ConnectionResetError
    return data


def closed_port() -> int:
    """Return a port of 127.0.0.1 on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def tls_server_context(certificate: Path, on_name: Callable[[str | None], None] | None = None) -> ssl.SSLContext:
    """Return a server's TLS context; `on_name` is called with the host name that each client sends (SNI)."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    if on_name:
        context.sni_callback = lambda connection, name, _: on_name(name)
    return context


def self_signed_certificate(path: Path, *names: str) -> Path:
    """Write a key and a certificate for `names` (DNS names or IP addresses) to `path`."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([_general_name(name) for name in names]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    return path


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


class Names:
    """Fakes DNS lookups: each lookup gets the next answer, and the last answer repeats."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> None:
        self.lookups: list[str] = []
        self._answers = list(answers)
        monkeypatch.setattr(pycares.Channel, "getaddrinfo", self._getaddrinfo)

    def _getaddrinfo(self, host: str, port: int | None, *, callback: Callable[..., None], **_: Any) -> None:
        self.lookups.append(host)
        addresses = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if addresses:
            nodes = [SimpleNamespace(addr=(address.encode(), 0)) for address in addresses]
            callback(SimpleNamespace(nodes=nodes), None)
        else:
            callback(None, pycares.errno.ARES_ENOTFOUND)


def silent_name_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every DNS lookup hang."""
    monkeypatch.setattr(pycares.Channel, "getaddrinfo", lambda *_, **__: None)


class Dials:
    """Records attempted connections and refuses them, or redirects all to `redirect_port` on 127.0.0.1."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, redirect_port: int | None = None) -> None:
        self.addresses: list[str] = []
        connect = socket.socket.connect

        def dial(sock: socket.socket, address: tuple[Any, ...]) -> None:
            self.addresses.append(address[0])
            if redirect_port is None:
                raise ConnectionRefusedError(111, "Connection refused")
            connect(sock, ("127.0.0.1", redirect_port))

        monkeypatch.setattr(socket.socket, "connect", dial)


@contextlib.contextmanager
def elapsed_under(limit: float) -> Iterator[None]:
    """Fail unless the block ends within `limit` seconds."""
    began = time.monotonic()
    yield
    assert time.monotonic() - began < limit
