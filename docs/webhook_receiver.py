"""An example of a webhook receiver: prints each event with a valid signature, and answers 401 to other requests.

    SIGNING_SECRET=whsec_… python3 docs/webhook_receiver.py 9000

Then give http://127.0.0.1:9000/ as `webhook_url` of a post. `GET /workspaces/{id}/webhook-signing-secret` has the secret.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

TOLERANCE_SECONDS = 300
logger = logging.getLogger("webhook-receiver")


def is_genuine(secret: str, header: str, body: bytes) -> bool:
    """Return whether a webhook's signature header has a valid signature of the body, made within the last five minutes."""
    parts = [part.partition("=")[::2] for part in header.split(",")]
    at = next((value for name, value in parts if name == "t"), "")
    if not at.isdecimal() or abs(time.time() - int(at)) > TOLERANCE_SECONDS:
        return False
    right = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return any(hmac.compare_digest(right.encode(), value.encode()) for name, value in parts if name == "v1")


class Receiver(BaseHTTPRequestHandler):
    """The HTTP handler of the example webhook receiver. An event may arrive several times, always with the same `id`."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        genuine = is_genuine(os.environ["SIGNING_SECRET"], self.headers.get("x-service-signature", ""), body)
        if genuine:
            event = json.loads(body)
            logger.info("%s %s %s", event["id"], event["type"], json.dumps(event["data"]))
        self.send_response(204 if genuine else 401)
        self.end_headers()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    HTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
