"""POST /media through the real web server: bodies that are chunked, interrupted or too long."""

from __future__ import annotations

import base64
import http.client
import json
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from urllib3.filepost import encode_multipart_formdata

from media.models import MediaAsset
from tests import factories
from tests.media.pictures import jpeg, large_jpeg
from tests.media.web_server import BOUND_SECONDS, web_server
from workspaces.models import Workspace

MIB = 1024 * 1024

pytestmark = pytest.mark.django_db(transaction=True)  # the server has connections of its own


@dataclass
class Server:
    """gunicorn configured as in production, with the tests' database and its own folder."""

    address: tuple[str, int]
    folder: Path

    @property
    def incoming(self) -> list[Path]:
        return list((self.folder / "incoming").iterdir())

    @property
    def stored(self) -> list[bytes]:
        return [path.read_bytes() for path in (self.folder / "storage").rglob("*") if path.is_file()]


@pytest.fixture(scope="module")
def server(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("service")
    with web_server(folder, token="") as running:
        yield Server(running.address, folder)


@pytest.fixture
def token(workspace: Workspace) -> str:
    return factories.workspace_key(workspace)


def form(content: bytes) -> tuple[bytes, str]:
    body, kind = encode_multipart_formdata({"alt_text": "A bench", "file": ("bench.jpg", content)})
    return body, kind


def send(server: Server, token: str, body: bytes | Iterable[bytes], kind: str) -> tuple[int, dict[str, Any]]:
    """Status and JSON; bodies that are not bytes are sent in chunks."""
    client = http.client.HTTPConnection(*server.address, timeout=BOUND_SECONDS)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": kind}
    client.request("POST", "/media", body, headers, encode_chunked=not isinstance(body, bytes))
    answer = client.getresponse()
    reply: dict[str, Any] = json.loads(answer.read())
    client.close()
    return answer.status, reply


def send_raw(server: Server, token: str, framing: str, body: bytes) -> tuple[int, dict[str, Any]]:
    """Status and JSON of the response to a body that stops early."""
    head = f"POST /media HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n{framing}\r\n\r\n"
    with socket.create_connection(server.address, timeout=BOUND_SECONDS) as line:
        line.sendall(head.encode() + body)
        line.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: line.recv(65536), b""))
    status, _, rest = answer.partition(b"\r\n")
    return int(status.split()[1]), json.loads(rest.partition(b"\r\n\r\n")[2])


def chunks_of(body: bytes, size: int = 10_000) -> Iterator[bytes]:
    yield from (body[start : start + size] for start in range(0, len(body), size))


def test_a_form_without_a_content_length_is_accepted(server: Server, token: str) -> None:
    body, kind = form(jpeg(640, 480))
    status, reply = send(server, token, chunks_of(body), kind)

    assert (status, reply["media"]["alt_text"]) == (201, "A bench")
    assert (jpeg(640, 480) in server.stored, server.incoming) == (True, [])


def test_json_without_a_content_length_is_accepted(server: Server, token: str) -> None:
    body = json.dumps({"content_base64": base64.b64encode(jpeg()).decode()}).encode()

    assert send(server, token, chunks_of(body, 100), "application/json")[0] == 201


def test_an_oversized_picture_is_refused_with_a_reason(server: Server, token: str) -> None:
    body, kind = form(large_jpeg(25 * MIB))
    answers = [send(server, token, body, kind), send(server, token, chunks_of(body, MIB), kind)]

    assert [(status, reply["code"]) for status, reply in answers] == [(413, "PAYLOAD_TOO_LARGE")] * 2
    assert (MediaAsset.objects.count(), server.incoming) == (0, [])


def test_the_size_of_json_without_a_content_length_is_limited(server: Server, token: str) -> None:
    status, reply = send(server, token, (b" " * MIB for _ in range(31)), "application/json")

    assert (status, reply["code"]) == (413, "PAYLOAD_TOO_LARGE")


def test_a_too_large_content_length_is_refused_before_the_body_is_sent(server: Server, token: str) -> None:
    framing = "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 700000000"
    status, reply = send_raw(server, token, framing, b"--b\r\n")

    assert (status, reply["code"]) == (413, "PAYLOAD_TOO_LARGE")


def test_a_disconnected_upload_leaves_no_file(server: Server, token: str) -> None:
    body, kind = form(jpeg(640, 480))
    half = body[: len(body) // 2]
    in_chunks = f"{len(half):x}\r\n".encode() + half + b"\r\n"
    answers = [
        send_raw(server, token, f"Content-Type: {kind}\r\nContent-Length: {len(body)}", half),
        send_raw(server, token, f"Content-Type: {kind}\r\nTransfer-Encoding: chunked", in_chunks),
        send_raw(server, token, f"Content-Type: {kind}\r\nTransfer-Encoding: chunked", b"nonsense\r\n"),
        send_raw(server, token, f"Content-Type: application/json\r\nContent-Length: {len(body)}", b'{"content_base64":'),
    ]

    assert [(status, reply["code"]) for status, reply in answers] == [(400, "MALFORMED_REQUEST")] * 4
    assert (MediaAsset.objects.count(), server.incoming) == (0, [])


def test_a_caller_without_a_token_gets_401_for_any_body(server: Server) -> None:
    body, kind = form(jpeg() + bytes(3 * MIB))  # below what the server still reads after its answer (LINGER_BYTES)

    assert send(server, "sps_key_wrong", body, kind)[0] == 401
