"""Clients that send requests slowly or incompletely occupy no thread and get an error."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings as project

from tests import factories
from tests.media.web_server import WebServer, web_server
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db(transaction=True)  # the server has connections of its own

BOUND_SECONDS = 30
READ_SECONDS = 2
JSON = "Content-Type: application/json\r\n"
FORM = "Content-Type: multipart/form-data; boundary=x\r\n"


@pytest.fixture(scope="module")
def running(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("WEB_READ_SECONDS", str(READ_SECONDS))
        with web_server(tmp_path_factory.mktemp("service"), token="") as started:
            yield started


@pytest.fixture
def server(running: WebServer, workspace: Workspace) -> WebServer:
    return WebServer(running.address, factories.workspace_key(workspace))


def begin(server: WebServer, request: str) -> socket.socket:
    """Send `request` with {token} replaced, and leave the connection open."""
    line = socket.create_connection(server.address, timeout=BOUND_SECONDS)
    line.sendall(request.replace("{token}", server.token).encode())
    return line


def answer_on(line: socket.socket) -> tuple[int, dict[str, Any]]:
    """Read the answer until the connection closes; return its status and JSON."""
    answer = b"".join(iter(lambda: line.recv(65536), b""))
    line.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


BEARER = "Authorization: Bearer {token}\r\n"


def post(path: str, headers: str, body: str = "", *, bearer: str = BEARER) -> str:
    return f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{bearer}{headers}\r\n{body}"


UNFINISHED = {
    "a head": "POST /posts HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
    "a body": post("/posts", JSON + "Content-Length: 9999\r\n", '{"text": "'),
    "a long body": post("/posts", JSON + "Content-Length: 999999\r\n", '{"text": "'),
    "chunks": post("/posts", JSON + "Transfer-Encoding: chunked\r\n", "5\r\n{"),
    "identity and chunks": post("/posts", JSON + "Transfer-Encoding: identity, chunked\r\n", "5\r\n{"),
    "an upload": post("/media", FORM + "Content-Length: 9999999\r\n", "--x"),
    "an upload in chunks": post("/media", FORM + "Transfer-Encoding: chunked\r\n", "9\r\n--x"),
    "a page": post("/dashboard/sign-in", "Content-Length: 9999\r\n", "a=", bearer=""),
    "the console": post("/admin/login/", "Content-Length: 9999\r\n", "a=", bearer=""),
}


@pytest.mark.parametrize("request_begun", UNFINISHED.values(), ids=UNFINISHED)
def test_slow_clients_do_not_delay_other_requests(server: WebServer, request_begun: str) -> None:
    unfinished = [begin(server, request_begun) for _ in range(2 * project.WEB_THREADS)]

    assert server.request("GET", "/capabilities").status == 200
    for line in unfinished:
        line.close()


@pytest.mark.parametrize("headers", [JSON + "Content-Length: 999999\r\n", JSON + "Transfer-Encoding: chunked\r\n"])
@pytest.mark.parametrize("path", ["/posts", "/posts/validate", "/media"])
def test_a_request_without_a_token_is_refused_before_its_body_is_read(server: WebServer, path: str, headers: str) -> None:
    for bearer in ("", "Authorization: Bearer sps_key_wrong\r\n"):
        status, result = answer_on(begin(server, post(path, headers, bearer=bearer)))

        assert (status, result["code"]) == (401, "UNAUTHENTICATED")


def test_100_continue_is_sent_only_when_the_body_is_needed(server: WebServer) -> None:
    ask = JSON + "Expect: 100-continue\r\nConnection: close\r\nContent-Length: 2\r\n"

    status, result = answer_on(begin(server, post("/posts/validate", ask, bearer="")))
    assert (status, result["code"]) == (401, "UNAUTHENTICATED")

    line = begin(server, post("/posts/validate", ask))
    assert line.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
    line.sendall(b"{}")
    status, result = answer_on(line)
    assert (status, result["code"]) == (422, "VALIDATION_FAILED")


@pytest.mark.parametrize("path", ["/posts", "/dashboard/sign-in", "/admin/login/", "/billing/webhooks/processor"])
def test_a_too_long_body_is_refused_unread(server: WebServer, path: str) -> None:
    status, result = answer_on(begin(server, post(path, JSON + "Content-Length: 120000000\r\n")))

    assert (status, result["code"]) == (413, "PAYLOAD_TOO_LARGE")


def test_a_chunked_body_is_refused_when_it_becomes_too_long(server: WebServer) -> None:
    chunk = f"{200_000:x}\r\n{'a' * 200_000}\r\n"
    line = begin(server, post("/posts", JSON + "Transfer-Encoding: chunked\r\n", 6 * chunk))
    status, result = answer_on(line)

    assert (status, result["code"]) == (413, "PAYLOAD_TOO_LARGE")


def test_requests_that_are_received_too_slowly_are_ended(server: WebServer) -> None:
    lines = {kind: begin(server, UNFINISHED[kind]) for kind in ("a head", "a body", "chunks", "an upload")}

    for kind, line in lines.items():
        status, result = answer_on(line)
        assert (status, result["code"]) == (408, "REQUEST_TIMEOUT"), kind


def test_a_request_that_runs_twice_is_rate_limited_once(server: WebServer) -> None:
    """A request that runs twice because its body came late counts once in the rate limit."""
    before = int(server.request("GET", "/capabilities").headers["ratelimit-remaining"])
    line = begin(server, post("/posts/validate", JSON + "Connection: close\r\nContent-Length: 100000\r\n"))
    line.sendall(b"{}" + b" " * 99_998)
    late = b"".join(iter(lambda: line.recv(65536), b""))
    line.close()

    left = int(late.lower().partition(b"ratelimit-remaining: ")[2].split(b"\r\n")[0])
    assert left >= before - 1  # one more each second is given back


def test_pipelined_requests_are_answered_in_order(server: WebServer) -> None:
    one = post("/posts/validate", JSON + "Content-Length: 2\r\n", "{}")
    last = post("/posts/validate", JSON + "Connection: close\r\nTransfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n")
    line = begin(server, one + one + last)
    answers = b"".join(iter(lambda: line.recv(65536), b""))
    line.close()

    assert answers.count(b"HTTP/1.1 422 ") == 3
