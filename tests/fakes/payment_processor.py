"""A stand-in of Stripe's API, written from its public reference: customers, sessions, subscriptions, metered usage.

What it keeps to: an idempotency key is answered its first answer again, a 500 too; a meter event's identifier is unique for
24 hours and a second one is refused with 400; its timestamp lies within the past 35 days; summaries take whole minutes.
"""

from __future__ import annotations

import json
import time
from typing import Any
from urllib.parse import parse_qsl

from tests.fakes.faults import FaultyServer
from tests.fakes.http_server import DROPPED, Answer, RawAnswer, ReceivedRequest

DAY = 86_400
METER = "mtr_1"


class FakePaymentProcessor(FaultyServer):
    """`broken` breaks every answer: a status, or True for a connection that is dropped; FaultyServer's faults break one.

    `meter_events` are those that were recorded, by identifier; `event_names` those for which there is a meter.
    """

    calls = frozenset(
        {
            "customers.create",
            "checkout.create",
            "portal.create",
            "subscriptions.list",
            "subscriptions.retrieve",
            "subscriptions.cancel",
            "meter_events.create",
            "meters.list",
            "summaries.list",
        }
    )

    def __init__(self, key: str) -> None:
        super().__init__()
        self.key = key
        self.broken: int | bool = False
        self.subscriptions: dict[str, dict[str, Any]] = {}
        self.meter_events: dict[str, dict[str, Any]] = {}
        self.event_names = {"social_publishing_cents"}
        self.unknown_customers: set[str] = set()
        self._by_key: dict[str, Answer] = {}
        self._made = 0

    def subscribe(
        self, customer: str, status: str = "active", *, prices: tuple[str, ...] = ("price_payg",), **marks: str
    ) -> dict[str, Any]:
        """Give the customer a subscription to these prices; `marks` are its metadata. Returns the object, which is live."""
        made, now = f"sub_{len(self.subscriptions) + 1}", int(time.time())
        items = [
            {
                "id": f"si_{made}_{number}",
                "object": "subscription_item",
                "price": {"id": price, "object": "price", "recurring": {"usage_type": _usage_type(price)}},
                "current_period_end": now + 30 * DAY,
            }
            for number, price in enumerate(prices)
        ]
        self.subscriptions[made] = {
            "id": made,
            "object": "subscription",
            "customer": customer,
            "status": status,
            "metadata": marks,
            "items": {"object": "list", "data": items, "has_more": False},
            "created": now + len(self.subscriptions),
            "ended_at": None,
        }
        return self.subscriptions[made]

    def recorded_cents(self, customer: str) -> int:
        """What the meter has counted for the customer."""
        return sum(_value(event) for event in self.meter_events.values() if _customer(event) == customer)

    def form(self, path: str) -> list[dict[str, str]]:
        """The forms that were posted to the path, with names as they were written (`metadata[workspace_id]`)."""
        return [_form(request) for request in self.requests if (request.method, request.path) == ("POST", path)]

    def server_error(self, status: int) -> Answer:
        return _error(status, "api_error", "The stand-in is set to fail.")

    def call_of(self, request: ReceivedRequest) -> str:
        parts = request.path.removeprefix("/v1/").split("/")
        match request.method, parts:
            case "POST", ["customers"]:
                return "customers.create"
            case "POST", ["checkout", "sessions"]:
                return "checkout.create"
            case "POST", ["billing_portal", "sessions"]:
                return "portal.create"
            case "GET", ["subscriptions"]:
                return "subscriptions.list"
            case "GET", ["subscriptions", _]:
                return "subscriptions.retrieve"
            case "DELETE", ["subscriptions", _]:
                return "subscriptions.cancel"
            case "POST", ["billing", "meter_events"]:
                return "meter_events.create"
            case "GET", ["billing", "meters"]:
                return "meters.list"
            case "GET", ["billing", "meters", _, "event_summaries"]:
                return "summaries.list"
        return "unknown"

    def answer(self, request: ReceivedRequest) -> Answer | RawAnswer:
        if self.broken is True:
            return DROPPED
        if self.broken:
            return self.server_error(self.broken)
        if request.headers.get("authorization") != f"Bearer {self.key}":
            return _error(401, "invalid_request_error", "Invalid API Key provided.")
        key = _key(request)
        if key in self._by_key:
            return self._by_key[key]
        answer = super().answer(request)
        if key and isinstance(answer, Answer) and answer.status >= 500:
            self._by_key.setdefault(key, answer)
        return answer

    def perform(self, request: ReceivedRequest) -> Answer:
        key = _key(request)
        if key in self._by_key:
            return self._by_key[key]
        answer = self._serve(request)
        if key and answer.status == 200:
            self._by_key[key] = answer
        return answer

    def _serve(self, request: ReceivedRequest) -> Answer:
        name = request.path.rsplit("/", 1)[-1]
        match self.call_of(request):
            case "customers.create":
                return _json({"id": self._id("cus"), "object": "customer"})
            case "checkout.create":
                made = self._id("cs_test")
                return _json({"id": made, "object": "checkout.session", "url": f"https://checkout.example/{made}"})
            case "portal.create":
                made = self._id("bps")
                return _json({"id": made, "object": "billing_portal.session", "url": f"https://portal.example/{made}"})
            case "subscriptions.list":
                return self._list_subscriptions(request.query)
            case "subscriptions.retrieve":
                found = self.subscriptions.get(name)
                return _json(found) if found else _missing("subscription", name)
            case "subscriptions.cancel":
                return self._cancel(name)
            case "meter_events.create":
                return self._record(_form(request))
            case "meters.list":
                meters = [{"id": METER, "object": "billing.meter", "event_name": name} for name in self.event_names]
                return _list(request.path, meters)
            case "summaries.list":
                return self._add_up(request)
        return _error(404, "invalid_request_error", f"Unrecognized request URL ({request.path}).")

    def _list_subscriptions(self, query: Any) -> Answer:
        customer, status = query["customer"], query.get("status")
        if customer in self.unknown_customers:
            return _missing("customer", customer)
        found = [one for one in self.subscriptions.values() if one["customer"] == customer]
        if status is None:
            found = [one for one in found if one["status"] != "canceled"]
        elif status != "all":
            found = [one for one in found if one["status"] == status]
        return _list("/v1/subscriptions", found[::-1])

    def _cancel(self, name: str) -> Answer:
        found = self.subscriptions.get(name)
        if found is None or found["status"] == "canceled":
            return _missing("subscription", name)
        found.update(status="canceled", ended_at=int(time.time()))
        return _json(found)

    def _record(self, form: dict[str, str]) -> Answer:
        identifier, now = form["identifier"], int(time.time())
        at = int(form.get("timestamp", now))
        if not now - 35 * DAY <= at <= now + 300:
            return _error(400, "invalid_request_error", "The timestamp is out of range.")
        if form["event_name"] not in self.event_names:
            return _error(400, "invalid_request_error", "No active meter found for this event name.")
        known = self.meter_events.get(identifier)
        if known and now - known["created"] < DAY:
            return _error(400, "invalid_request_error", f"An event already exists with identifier {identifier}.")
        payload = {name[8:-1]: value for name, value in form.items() if name.startswith("payload[")}
        event = {"object": "billing.meter_event", "identifier": identifier, "created": now, "timestamp": at}
        # An identifier that is not remembered any more is counted once more.
        key = f"{identifier} again" if known else identifier
        self.meter_events[key] = {**event, "event_name": form["event_name"], "payload": payload}
        return _json(self.meter_events[key])

    def _add_up(self, request: ReceivedRequest) -> Answer:
        start, end = int(request.query["start_time"]), int(request.query["end_time"])
        if start % 60 or end % 60:
            return _error(400, "invalid_request_error", "Times must be aligned with minute boundaries.")
        events = [event for event in self.meter_events.values() if _customer(event) == request.query["customer"]]
        values = [_value(event) for event in events if start <= event["timestamp"] < end]
        summary = {"id": "mtrusg_1", "object": "billing.meter_event_summary", "meter": METER}
        summaries = [{**summary, "aggregated_value": float(sum(values)), "start_time": start, "end_time": end}]
        return _list(request.path, summaries if values else [])

    def _id(self, prefix: str) -> str:
        self._made += 1
        return f"{prefix}_{self._made}"


def _usage_type(price: str) -> str:
    return "metered" if price == "price_payg" else "licensed"


def _customer(event: dict[str, Any]) -> str:
    return str(event["payload"]["stripe_customer_id"])


def _value(event: dict[str, Any]) -> int:
    return int(event["payload"]["value"])


def _key(request: ReceivedRequest) -> str:
    return request.headers.get("idempotency-key", "") if request.method == "POST" else ""


def _form(request: ReceivedRequest) -> dict[str, str]:
    return dict(parse_qsl(request.body.decode(), keep_blank_values=True))


def _json(value: dict[str, Any], status: int = 200) -> Answer:
    return Answer(status, json.dumps(value).encode(), {"Content-Type": "application/json", "Request-Id": "req_1"})


def _list(url: str, found: list[dict[str, Any]]) -> Answer:
    return _json({"object": "list", "url": url, "has_more": False, "data": found})


def _error(status: int, kind: str, message: str, **further: str) -> Answer:
    return _json({"error": {"type": kind, "message": message, **further}}, status)


def _missing(noun: str, name: str) -> Answer:
    return _error(404, "invalid_request_error", f"No such {noun}: '{name}'", code="resource_missing", param=noun)
