"""Web pages on loopback, as link cards find them: each address answers what a test puts there."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator

from PIL import Image

from tests.fakes.http_server import Answer, LoopbackServer, RawAnswer, ReceivedRequest


def open_graph(title: str = "", description: str = "", image: str = "", *, more: str = "") -> bytes:
    """A page with these Open Graph elements; those that are empty are left out."""
    named = {"og:title": title, "og:description": description, "og:image": image}
    metas = "".join(f'<meta property="{name}" content="{value}">' for name, value in named.items() if value)
    return f"<!doctype html><html><head>{metas}{more}</head><body>Hello</body></html>".encode()


def html(content: bytes, content_type: str = "text/html; charset=utf-8") -> Answer:
    """A page as a server sends it."""
    return Answer(200, content, {"Content-Type": content_type})


def picture(width: int = 40, height: int = 30, form: str = "PNG") -> bytes:
    """A picture of one colour."""
    file = io.BytesIO()
    Image.new("RGB", (width, height), "teal").save(file, form)
    return file.getvalue()


class WebPages(LoopbackServer):
    """`pages` are the answers by path; 404 where there is none."""

    def __init__(self) -> None:
        super().__init__()
        self.pages: dict[str, Answer | RawAnswer] = {}
        self._gone = threading.Event()

    def answer(self, request: ReceivedRequest) -> Answer | RawAnswer:
        return self.pages.get(request.path, Answer(404, b"<title>Not found</title>", {"Content-Type": "text/html"}))

    def put(self, path: str, answer: Answer | RawAnswer) -> str:
        """Let this path answer so; its address."""
        self.pages[path] = answer
        return f"{self.url}{path}"

    def slow(self) -> RawAnswer:
        """A page whose end never comes while the server runs."""

        def pieces() -> Iterator[bytes]:
            yield b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n<title>Slow</title>"
            self.hold(self._gone)

        return RawAnswer(pieces())

    @property
    def asked(self) -> list[str]:
        """The paths that were asked for, in order."""
        return [request.path for request in self.requests]
