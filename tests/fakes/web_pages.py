"""Web pages on loopback for link cards: each path has the response that a test sets."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator

from PIL import Image

from tests.fakes.http_server import Answer, LoopbackServer, RawAnswer, ReceivedRequest


def open_graph(title: str = "", description: str = "", image: str = "", *, more: str = "") -> bytes:
    """The HTML of a web page with these Open Graph elements, without empty ones."""
    named = {"og:title": title, "og:description": description, "og:image": image}
    metas = "".join(f'<meta property="{name}" content="{value}">' for name, value in named.items() if value)
    return f"<!doctype html><html><head>{metas}{more}</head><body>Hello</body></html>".encode()


def html(content: bytes, content_type: str = "text/html; charset=utf-8") -> Answer:
    """The response with a web page."""
    return Answer(200, content, {"Content-Type": content_type})


def picture(width: int = 40, height: int = 30, form: str = "PNG") -> bytes:
    """The response with a picture of one colour."""
    file = io.BytesIO()
    Image.new("RGB", (width, height), "teal").save(file, form)
    return file.getvalue()


class WebPages(LoopbackServer):
    """A web server; `pages` has the responses by path, 404 for all others."""

    def __init__(self) -> None:
        super().__init__()
        self.pages: dict[str, Answer | RawAnswer] = {}
        self._gone = threading.Event()

    def answer(self, request: ReceivedRequest) -> Answer | RawAnswer:
        return self.pages.get(request.path, Answer(404, b"<title>Not found</title>", {"Content-Type": "text/html"}))

    def put(self, path: str, answer: Answer | RawAnswer) -> str:
        """Set the response of a path; returns its address."""
        self.pages[path] = answer
        return f"{self.url}{path}"

    def slow(self) -> RawAnswer:
        """Set an endless response for a path, which goes on while the server runs."""

        def pieces() -> Iterator[bytes]:
            yield b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n<title>Slow</title>"
            self.hold(self._gone)

        return RawAnswer(pieces())

    @property
    def asked(self) -> list[str]:
        """The requested paths, in order."""
        return [request.path for request in self.requests]
