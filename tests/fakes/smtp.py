"""A stand-in of a mail server, as much of RFC 5321 as a client without TLS needs.

with FakeMailServer() as server:
    server.refusals.append(("RCPT", 550))
    ...
    [message] = server.messages
"""

from __future__ import annotations

import email
import email.policy
import socketserver
import threading
from email.message import EmailMessage
from types import TracebackType
from typing import Self


class FakeMailServer:
    """Keeps what it is given in `messages`; each of its refusals is used up by one message."""

    def __init__(self) -> None:
        self.messages: list[EmailMessage] = []
        # A command, or CONTENT for what follows DATA, and the code that it is answered with.
        self.refusals: list[tuple[str, int]] = []
        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Conversation)
        self._server.daemon_threads = True
        self._server.stand_in = self  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Conversation(socketserver.StreamRequestHandler):
    timeout = 10

    def handle(self) -> None:
        self._say("220 mail.example.com")
        while line := self.rfile.readline():
            command = line[:4].decode().upper()
            if self._refused(command):
                continue
            if command == "DATA":
                self._say("354 go on")
                content = self._read_content()
                if self._refused("CONTENT"):
                    continue
                self._keep(content)
            self._say("221 bye" if command == "QUIT" else "250 ok")
            if command == "QUIT":
                return

    def _refused(self, command: str) -> bool:
        refusals = self.server.stand_in.refusals  # type: ignore[attr-defined]
        if not refusals or refusals[0][0] != command:
            return False
        self._say(f"{refusals.pop(0)[1]} refused")
        return True

    def _read_content(self) -> bytes:
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        return b"".join(lines).replace(b"\r\n", b"\n")

    def _keep(self, content: bytes) -> None:
        message = email.message_from_bytes(content, policy=email.policy.default)
        self.server.stand_in.messages.append(message)  # type: ignore[attr-defined]

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())
