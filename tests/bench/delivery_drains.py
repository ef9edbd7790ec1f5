"""Benchmarks the delivery rate against a bare loop that sends the same, and with hanging receivers."""

from __future__ import annotations

import time
from collections.abc import Sequence

from tests.bench import bare_sender, loading
from tests.bench.deliveries import Receivers
from tests.bench.drains import workers_frozen
from tests.bench.loading import Copies
from tests.bench.measure import Row, at_least
from tests.bench.service import Service

DELIVERIES = 10_000
SILENT = 100  # receivers that hang
AT_ONCE = 64  # what two workers keep in flight at one quick host (webhooks/host_shares.py)
BARE = 1000  # deliveries of each run of the bare loop, whose rate does not depend on how many they are
MOST_SECONDS = 300.0
LAST_WRITES_SECONDS = 10.0


def drain(service: Service, receivers: Receivers, *, count: int, urls: Sequence[str]) -> float:
    """Deliver this many events to the `urls` in turn; return how many per second the answering receiver got.

    RuntimeError unless each of those came there and is delivered.
    """
    template = loading.delivered(service, receivers.url)
    receivers.clear()
    with workers_frozen(service):
        due = loading.due_deliveries(service, template, count=count, urls=urls)
    began = time.time()
    healthy = sum(urls[number % len(urls)] == receivers.url for number in range(1, count + 1))
    receivers.wait_for(healthy, seconds=MOST_SECONDS)
    ended_at = _ended_at(service, due, receivers.url, healthy)
    if len({event_id for event_id, _, _ in receivers.received()}) != healthy:
        raise RuntimeError(f"{len(receivers.received())} of {healthy} deliveries came.")
    return healthy / (ended_at - began)


def _ended_at(service: Service, due: Copies, url: str, healthy: int) -> float:
    """Wait for the last delivery to this URL; return when it was stored as delivered, in Unix seconds."""
    query = (
        "SELECT count(*), max(delivered_at) FROM webhooks_delivery "
        "WHERE id BETWEEN %s AND %s AND url = %s AND status = 'delivered'"
    )
    deadline = time.monotonic() + LAST_WRITES_SECONDS
    with loading.connect(service) as connection:
        while time.monotonic() < deadline:
            [row] = connection.execute(query, [due.first_id, due.last_id, url]).fetchall()
            if row["count"] == healthy:
                return float(row["max"].timestamp())
            time.sleep(0.1)
    raise RuntimeError(f"Only {row['count']} of {healthy} deliveries are written as delivered.")


def bare_rate(service: Service, receivers: Receivers, *, count: int, secret: str, keep: bool) -> float:
    """Send the bodies of the last drain with the bare loop while the workers are frozen; return the rate per second."""
    query = "SELECT payload FROM webhooks_event ORDER BY created_at DESC, id DESC LIMIT %s"
    with loading.connect(service) as connection:
        bodies = [bytes(row["payload"]) for row in connection.execute(query, [count]).fetchall()]
    with workers_frozen(service):
        trusted = str(service.certificate)
        seconds = bare_sender.send_all(receivers.url, bodies, secret=secret, at_once=AT_ONCE, trusted=trusted, keep=keep)
    return len(bodies) / seconds


def forget_silent(service: Service, receivers: Receivers) -> None:
    """Delete the deliveries that wait for silent receivers, so that they do not affect later measurements."""
    with loading.connect(service) as connection:
        connection.execute("DELETE FROM webhooks_delivery WHERE url = ANY(%s)", [receivers.silent_urls])


def rows(service: Service, count: int = DELIVERIES) -> list[Row]:
    """Measure the bare loop before and after the drain, so that changes of the machine's speed affect both.

    It is measured as the service works, with a connection for each delivery, and with reused ones, which suits aiohttp best.
    """
    if not service.on_postgres:
        return []
    secret = service.call("GET", f"/workspaces/{service.workspace_id}/webhook-signing-secret")["signing_secret"]
    tls = (service.certificate, service.certificate_key)
    receivers = Receivers(service.stack, silent=SILENT, tls=tls, secret=secret)
    drain(service, receivers, count=BARE, urls=[receivers.url])  # the workers know the receiver as a quick one then
    rates: dict[bool, list[float]] = {False: [], True: []}

    def bare() -> None:
        for keep, found in rates.items():
            found.append(bare_rate(service, receivers, count=BARE, secret=secret, keep=keep))

    bare()
    ours = drain(service, receivers, count=count, urls=[receivers.url])
    bare()
    beside = drain(service, receivers, count=count, urls=_one_in_ten(receivers))
    forget_silent(service, receivers)
    alike, reused = (sum(found) / len(found) for found in rates.values())
    name = f"{count:,} signed deliveries over HTTPS, a second"
    hanging = f"{count // 10:,} of {count:,} deliveries go to receivers that hang: the others, a second"
    return [
        at_least(name, f"{ours:.0f}/s", ours / alike, 0.4, reference=f"{alike:.0f}/s in bare aiohttp"),
        at_least(name, f"{ours:.0f}/s", ours / reused, 0.4, reference=f"{reused:.0f}/s in bare aiohttp, reused connections"),
        at_least(hanging, f"{beside:.0f}/s", beside / ours, 0.8, reference=f"{ours:.0f}/s without them"),
    ]


def _one_in_ten(receivers: Receivers) -> list[str]:
    """Return each silent receiver's URL once, with the answering one's nine times between them."""
    return [url for silent in receivers.silent_urls for url in (silent, *[receivers.url] * 9)]
