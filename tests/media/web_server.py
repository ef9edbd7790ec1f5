"""gunicorn as in production, on the tests' database, for tests over real HTTP."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import connection

START_SECONDS = 120  # a busy machine may take long to load Django
BOUND_SECONDS = 30


@dataclass
class Answer:
    """An HTTP response; `headers` by lower-case name."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class WebServer:
    """A running server, and the token for requests to it."""

    address: tuple[str, int]
    token: str

    def request(
        self, method: str, url: str, body: bytes | Iterable[bytes] | dict[str, Any] | None = None, **headers: str
    ) -> Answer:
        """Send a request on its own connection; dictionaries are sent as JSON. Signed URLs get no token."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if url.startswith("/"):
            named["authorization"] = f"Bearer {self.token}"
        if isinstance(body, dict):
            body, named["content-type"] = json.dumps(body).encode(), "application/json"
        parts = urlsplit(url)
        line = http.client.HTTPConnection(*self.address, timeout=BOUND_SECONDS)
        line.request(method, f"{parts.path}?{parts.query}" if parts.query else parts.path, body, named)
        answer = line.getresponse()
        content = answer.read()
        line.close()
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, content)

    def upload(self, path: Path, **fields: str) -> Answer:
        """Upload the file in pieces with a Content-Length, as curl -F does, without holding it in memory."""
        parts = [
            *(f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n' for name, text in fields.items()),
            f'--b\r\nContent-Disposition: form-data; name="file"; filename="{path.name}"\r\n\r\n',
        ]
        head, tail = "".join(parts).encode(), b"\r\n--b--\r\n"

        def pieces() -> Iterator[bytes]:
            yield head
            with path.open("rb") as file:
                yield from iter(lambda: file.read(65_536), b"")
            yield tail

        length = str(len(head) + path.stat().st_size + len(tail))
        return self.request("POST", "/media", pieces(), content_type="multipart/form-data; boundary=b", content_length=length)


@contextmanager
def web_server(folder: Path, token: str) -> Iterator[WebServer]:
    """Run one web process with the data directory `folder` during the block, which begins when it answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.set_inheritable(True)
        host, port = listener.getsockname()
        flags = ["-c", "python:config.gunicorn", "--bind", f"fd://{listener.fileno()}", "--workers", "1"]
        own = {"DATA_DIR": str(folder), "DATABASE_URL": database_url(), "BASE_URL": f"http://{host}:{port}"}
        process = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", "config.wsgi:application", *flags],
            pass_fds=[listener.fileno()],
            env={**os.environ, **own, "REDIS_URL": ""},
            cwd=settings.BASE_DIR,
            stderr=subprocess.DEVNULL,
        )
        try:
            line = http.client.HTTPConnection(host, port, timeout=START_SECONDS)
            line.request("GET", "/healthz")
            assert line.getresponse().status == http.HTTPStatus.OK
            line.close()
            yield WebServer((host, port), token)
        finally:
            process.terminate()
            process.wait(BOUND_SECONDS)


def database_url() -> str:
    """URL of the test database, for another process."""
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{database['NAME']}"
    return f"postgres://{database['USER']}:{database['PASSWORD']}@{database['HOST']}:{database['PORT']}/{database['NAME']}"
