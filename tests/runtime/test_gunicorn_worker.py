"""The gunicorn worker: errors outside the application, slow clients, and stopping."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import config.gunicorn

BOUND_SECONDS = 30


def broken_application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """A WSGI application that raises, as an error in the outermost middleware would."""
    raise RuntimeError("broken on purpose")


@contextmanager
def serving(application: str) -> Iterator[tuple[str, int]]:
    """Run gunicorn with an application of this module and return its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.set_inheritable(True)
        flags = ["-c", "python:config.gunicorn", "--bind", f"fd://{listener.fileno()}", "--workers", "1"]
        server = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", f"{__name__}:{application}", *flags],
            pass_fds=[listener.fileno()],
            stderr=subprocess.DEVNULL,
        )
        try:
            yield listener.getsockname()
        finally:
            server.terminate()
            server.wait(BOUND_SECONDS)


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    with serving("broken_application") as found:
        yield found


def exchange(address: tuple[str, int], request: bytes) -> tuple[str, dict[str, str], dict[str, Any]]:
    """Send raw bytes; returns status line, headers in lower case, and the JSON body."""
    with socket.create_connection(address, timeout=BOUND_SECONDS) as connection:
        connection.sendall(request)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    assert int(headers["content-length"]) == len(body)
    return status, headers, json.loads(body)


@pytest.mark.parametrize(
    "request_bytes",
    [
        pytest.param(b"hello\r\n\r\n", id="no request line"),
        pytest.param(b"GET / HTTP/9.9\r\n\r\n", id="unknown version"),
        pytest.param(b"GET / HTTP/1.1\r\nbad header\r\n\r\n", id="header without a colon"),
        pytest.param(b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n\r\n", id="request line too long"),
        pytest.param(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", id="negative length"),
        pytest.param(
            b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", id="two lengths"
        ),
    ],
)
def test_invalid_http_gets_the_error_envelope(address: tuple[str, int], request_bytes: bytes) -> None:
    status, headers, body = exchange(address, request_bytes)

    assert status == "HTTP/1.1 400 Bad Request"
    assert headers["content-type"] == "application/json"
    assert headers["connection"] == "close"
    assert re.fullmatch(r"[0-9a-f]{32}", body["trace_id"])
    assert headers["x-trace-id"] == body.pop("trace_id")
    assert body == {
        "code": "MALFORMED_REQUEST",
        "message": "The request is not valid HTTP.",
        "suggested_action": "Send well-formed HTTP/1.1.",
        "auto_fixable": False,
    }


def test_an_error_outside_the_application_gets_the_envelope_without_details(address: tuple[str, int]) -> None:
    status, headers, body = exchange(address, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")

    assert status == "HTTP/1.1 500 Internal Server Error"
    assert headers["x-trace-id"] == body["trace_id"]
    assert body["code"] == "INTERNAL_ERROR"
    assert "broken on purpose" not in json.dumps(body)


def test_two_invalid_requests_have_different_trace_ids(address: tuple[str, int]) -> None:
    first, second = (exchange(address, b"hello\r\n\r\n")[2]["trace_id"] for _ in range(2))

    assert first != second


def patient_application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """A WSGI application that answers with the request body."""
    body: bytes = environ["wsgi.input"].read()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]


def connects(address: tuple[str, int]) -> bool:
    try:
        socket.create_connection(address, timeout=BOUND_SECONDS).close()
    except ConnectionRefusedError:
        return False
    return True


def until(wanted: Callable[[], bool], seconds: float = BOUND_SECONDS) -> bool:
    """Wait until the condition is true; return whether it was in time."""
    deadline = time.monotonic() + seconds
    while not (held := wanted()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return held


def test_a_stopping_server_refuses_new_connections_and_finishes_its_requests() -> None:
    """A refused client can use another machine; an accepted connection that is dropped would lose its request."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        address = found.getsockname()
    flags = ["-c", "python:config.gunicorn", "--bind", f"127.0.0.1:{address[1]}", "--workers", "2"]
    server = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", f"{__name__}:patient_application", *flags], stderr=subprocess.DEVNULL
    )
    try:
        assert until(lambda: connects(address))
        with socket.create_connection(address, timeout=BOUND_SECONDS) as begun:
            head = "POST / HTTP/1.1", "Host: a", "Connection: close", "Content-Length: 4", "Expect: 100-continue"
            begun.sendall("\r\n".join([*head, "", ""]).encode())
            assert begun.recv(65536).startswith(b"HTTP/1.1 100")  # a thread has taken it up
            server.terminate()
            assert until(lambda: not connects(address), 4.0)
            begun.sendall(b"done")
            answer = b"".join(iter(lambda: begun.recv(65536), b""))
            assert answer.endswith(b"\r\n\r\ndone")
        assert server.wait(BOUND_SECONDS) == 0
    finally:
        server.kill()
        server.wait()


def application_stopped_while_it_loads() -> Callable[..., Iterable[bytes]]:
    """Load a WSGI application in a gunicorn worker that gets SIGTERM meanwhile, and then stop the whole server."""
    before = set(sys.modules)
    signal.raise_signal(signal.SIGTERM)
    os.kill(os.getppid(), signal.SIGTERM)
    if loaded := set(sys.modules) - before:
        raise RuntimeError(f"The signal handler imported {sorted(loaded)}.")
    return patient_application


def test_a_worker_stopped_while_it_loads_the_application_ends_cleanly() -> None:
    """An import that interrupts another one can break both; the worker then fails, and gunicorn drops all requests."""
    application = f"{__name__}:application_stopped_while_it_loads()"
    flags = ["-c", "python:config.gunicorn", "--bind", "127.0.0.1:0", "--workers", "1"]
    server = subprocess.Popen([sys.executable, "-m", "gunicorn", application, *flags], stderr=subprocess.DEVNULL)
    try:
        assert server.wait(BOUND_SECONDS) == 0
    finally:
        server.kill()
        server.wait()


def scripted_application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """A WSGI application: /hold occupies its thread until a probe comes, /large answers 20 MB, others answer at once."""
    if environ["PATH_INFO"] == "/hold":
        _held.wait(BOUND_SECONDS)
    if environ["PATH_INFO"] in ("/healthz", "/readyz"):
        _held.set()
    body = bytes(20_000_000 if environ["PATH_INFO"] == "/large" else 2)
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]


_held = threading.Event()


@pytest.fixture
def scripted() -> Iterator[tuple[str, int]]:
    with serving("scripted_application") as found:
        yield found


def ask(address: tuple[str, int], path: str) -> socket.socket:
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)  # a large answer does not fit into it
    line.settimeout(BOUND_SECONDS)
    line.connect(address)
    line.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
    return line


@pytest.mark.parametrize("probe", ["/healthz", "/readyz"])
def test_health_probes_are_answered_while_all_threads_are_busy(scripted: tuple[str, int], probe: str) -> None:
    busy = [ask(scripted, "/hold") for _ in range(3 * config.gunicorn.threads)]

    assert ask(scripted, probe).recv(100).startswith(b"HTTP/1.1 200 OK")
    assert all(line.recv(100).startswith(b"HTTP/1.1 200 OK") for line in busy)


def test_clients_that_do_not_read_their_answers_occupy_no_thread(scripted: tuple[str, int]) -> None:
    lazy = [ask(scripted, "/large") for _ in range(2 * config.gunicorn.threads)]
    assert all(line.recv(100).startswith(b"HTTP/1.1 200 OK") for line in lazy)

    assert ask(scripted, "/small").recv(100).startswith(b"HTTP/1.1 200 OK")
    first = lazy[0]
    assert sum(map(len, iter(lambda: first.recv(1_000_000), b""))) > 19_000_000, "the rest follows when it is taken"
    for line in lazy:
        line.close()
