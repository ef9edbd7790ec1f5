"""A proxy on loopback that adds a bearer token to every request, for test programs that cannot send one.

Usage: bearer_proxy.py PORT UPSTREAM_ORIGIN, with the token in the environment variable API_KEY. A Host or Origin that names
the proxy is changed to that of the service; others are passed on, so that the service can refuse them.
"""

from __future__ import annotations

import http.client
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

SECONDS = 60
OF_ONE_CONNECTION = {"connection", "transfer-encoding", "keep-alive", "content-length"}


class BearerProxy(BaseHTTPRequestHandler):
    """Passes requests on to `upstream`, a host and port, with a token."""

    protocol_version = "HTTP/1.1"
    upstream = token = ""
    names: tuple[str, ...] = ()  # of the proxy itself

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        connection = http.client.HTTPConnection(self.upstream, timeout=SECONDS)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in OF_ONE_CONNECTION:
                connection.putheader(name, self._renamed(value) if name.lower() in ("host", "origin") else value)
        connection.putheader("Authorization", f"Bearer {self.token}")
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        content = response.read()
        self.send_response_only(response.status)
        for name, value in response.getheaders():
            if name.lower() not in OF_ONE_CONNECTION:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        connection.close()

    do_GET = do_DELETE = do_OPTIONS = do_POST

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (as in the base class)
        """Print nothing."""

    def _renamed(self, value: str) -> str:
        for name in self.names:
            value = value.replace(name, self.upstream)
        return value


def main() -> None:
    port, origin = int(sys.argv[1]), sys.argv[2]
    BearerProxy.upstream, BearerProxy.token = urlsplit(origin).netloc, os.environ["API_KEY"]
    BearerProxy.names = (f"127.0.0.1:{port}", f"localhost:{port}")
    ThreadingHTTPServer(("127.0.0.1", port), BearerProxy).serve_forever()


if __name__ == "__main__":
    main()
