"""A stand-in of Stripe's API, as far as its public reference describes customers, subscriptions and sessions."""

from __future__ import annotations

import json
import threading
from typing import Any
from urllib.parse import parse_qsl

from tests.fakes.http_server import DROPPED, Answer, LoopbackServer, RawAnswer, ReceivedRequest


class FakePaymentProcessor(LoopbackServer):
    """Makes customers and sessions. `subscribers`: the state of a customer's subscription, by customer; `broken` breaks
    every answer: a status, or True for a connection that is dropped."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self.key = key
        self.subscribers: dict[str, str] = {}
        self.broken: int | bool = False
        self._by_key: dict[str, dict[str, Any]] = {}
        self._made = 0
        self._making = threading.Lock()

    def form(self, path: str) -> list[dict[str, str]]:
        """The forms that were posted to the path, with names as they were written (`metadata[workspace_id]`)."""
        return [_form(request) for request in self.requests if (request.method, request.path) == ("POST", path)]

    def answer(self, request: ReceivedRequest) -> Answer | RawAnswer:
        if self.broken is True:
            return DROPPED
        if self.broken:
            return _error(self.broken, "api_error", "The stand-in was told to fail.")
        if request.headers.get("authorization") != f"Bearer {self.key}":
            return _error(401, "invalid_request_error", "Invalid API Key provided.")
        key = request.headers.get("idempotency-key") if request.method == "POST" else None
        with self._making:
            made = self._by_key.get(key or "") or self._make(request)
            if made is None:
                return _error(404, "invalid_request_error", f"Unrecognized request URL ({request.path}).")
            if key:
                self._by_key[key] = made
        return _json(made)

    def _make(self, request: ReceivedRequest) -> dict[str, Any] | None:
        match request.method, request.path:
            case "POST", "/v1/customers":
                return {"id": self._id("cus"), "object": "customer"}
            case "GET", "/v1/subscriptions":
                state = self.subscribers.get(request.query["customer"])
                found = [{"id": "sub_1", "object": "subscription", "status": state}] if state else []
                return {"object": "list", "url": "/v1/subscriptions", "has_more": False, "data": found}
            case "POST", "/v1/checkout/sessions":
                made = self._id("cs_test")
                return {"id": made, "object": "checkout.session", "url": f"https://checkout.example/{made}"}
            case "POST", "/v1/billing_portal/sessions":
                made = self._id("bps")
                return {"id": made, "object": "billing_portal.session", "url": f"https://portal.example/{made}"}
        return None

    def _id(self, prefix: str) -> str:
        self._made += 1
        return f"{prefix}_{self._made}"


def _form(request: ReceivedRequest) -> dict[str, str]:
    return dict(parse_qsl(request.body.decode(), keep_blank_values=True))


def _json(value: dict[str, Any], status: int = 200) -> Answer:
    return Answer(status, json.dumps(value).encode(), {"Content-Type": "application/json", "Request-Id": "req_1"})


def _error(status: int, kind: str, message: str) -> Answer:
    return _json({"error": {"type": kind, "message": message}}, status)
