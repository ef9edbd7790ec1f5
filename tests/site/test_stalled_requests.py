"""Callers that stall in the middle of a request: they hold a web thread for a bounded time only."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from django.conf import settings as project

from tests import factories
from tests.media.web_server import web_server
from workspaces.models import Workspace

STALLED = (
    b"POST /media HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=x\r\n"
    b"Content-Length: 9999\r\n\r\n--x"
)


@pytest.mark.django_db(transaction=True)
def test_they_give_their_threads_back(workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEB_READ_SECONDS", "1")
    with web_server(tmp_path, factories.workspace_key(workspace)) as server:
        stalled = [socket.create_connection(server.address) for _ in range(2 * project.WEB_THREADS)]
        for each in stalled:
            each.sendall(STALLED)

        assert server.request("GET", "/healthz").status == 200
        for each in stalled:
            each.close()
