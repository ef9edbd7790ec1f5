"""Benchmarks the HTTP API against the same calls written by hand, on one database and Redis, in alternating bursts.

POST and GET stand beside tests/bench/reference (FastAPI, asynchronous psycopg, plain SQL). It is held to writing as many
rows in each table for each post, and to giving the same answers. Validation stands beside a bare WSGI view.
"""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from tests.bench.answers import same_answers
from tests.bench.census import Census
from tests.bench.load_generator import MARK
from tests.bench.measure import Row, at_least, at_most
from tests.bench.service import Service
from tests.bench.sides import Side, request, started
from tests.chaos.processes import free_port
from tests.chaos.stack import ROOT, CannotRun

PYTHON = ROOT / ".venv-bench" / "bin" / "python"  # the reference's own; see the Makefile
TURNS = 3  # bursts of each side
LATENCY_TURNS = 7  # a pause of the machine spoils the p99 of one burst, and the median leaves it out
POST_SECONDS, LATENCY_SECONDS, READ_SECONDS, WARM_SECONDS = 3.0, 4.0, 1.5, 1.0
CONNECTIONS, MOST_CONNECTIONS = 16, 32
ON_THE_DAY = 200  # posts of the day whose list is read
PLATFORMS = ("bluesky", "linkedin", "mastodon", "x")
Make = Callable[[Side], Sequence[str]]


def rows(service: Service) -> list[Row]:
    """Benchmark the API's calls; without Redis and PostgreSQL only validation, because the reference needs both."""
    with _bare_validation(service) as (ours, bare):
        validation = _validation(service, ours, bare)
    if service.stack.redis is None:
        return [validation]
    with _reference(service) as (ours, reference):
        census = Census(service.stack.environ["DATABASE_URL"])
        _warm(service, (ours, reference))
        posts = _posts(service, census, ours, reference)
        day = _fill_day(service)
        day_path = _day_path(service, day)
        ids = [post["id"] for post in service.call("GET", day_path)["posts"]]
        body = {**post_body(service, 0, "the same on both sides"), "metadata": {"campaign": "bench"}}
        body["targets"][1] |= {"text": "its own words", "options": {"langs": ["en"]}}
        made = same_answers(service, reference.port, body, ids[0], day_path)
        _same("The two sides stored different rows", *(census.stored(post) for post in made))
        one = _reads(service, "GET /posts/{id}", [f"/posts/{post_id}" for post_id in ids], ours, reference)
        many = _reads(service, f"GET /posts, a day of {ON_THE_DAY} posts", [day_path], ours, reference)
    return [*posts, one, many, validation]


def post_body(service: Service, number: int, text: str) -> dict[str, Any]:
    """Return the body of a post with two targets in the far future."""
    accounts = [service.accounts[(number + step) % len(service.accounts)] for step in (0, 1)]
    at = datetime.now(UTC).replace(microsecond=0) + timedelta(days=100)
    return {
        "workspace_id": service.workspace_id,
        "text": text,
        "scheduled_at": at.isoformat().replace("+00:00", "Z"),
        "targets": [{"platform": "bluesky", "connected_account_id": account} for account in accounts],
    }


def _posts(service: Service, census: Census, ours: Side, reference: Side) -> list[Row]:
    """Measure the rate of new posts, then the latency at half of that rate."""
    for _ in range(TURNS):
        for name, side in (("ours", ours), ("reference", reference)):
            with census.during(name):
                side.burst(_new_posts(service, side), seconds=POST_SECONDS, connections=CONNECTIONS)
    written = [census.per_post("ours", ours.done), census.per_post("reference", reference.done)]
    _same("The two sides wrote different numbers of rows for each post", *written)
    sys.stderr.write(f"bench: rows for each post, both sides: {written[0]}\n")
    name = "POST /posts, 2 targets, idempotent"
    texts = [f"{side.rate:.0f}/s, {side.cpu_ms:.2f} ms CPU each" for side in (ours, reference)]
    ratio = ours.rate / reference.rate
    taken = at_least(f"{name}: rate, {CONNECTIONS} connections", texts[0], ratio, 0.6, reference=texts[1])
    halves = [ours.rate / 2, reference.rate / 2]
    for side in (ours, reference):
        side.forget()
    for _ in range(LATENCY_TURNS):
        for side, half in zip((ours, reference), halves, strict=True):
            sent = _new_posts(service, side)
            side.burst(sent, seconds=LATENCY_SECONDS, connections=MOST_CONNECTIONS, rate=half)
    texts = [f"{side.p99:.0f} ms at {half:.0f}/s" for side, half in zip((ours, reference), halves, strict=True)]
    ratio = ours.p99 / reference.p99
    return [taken, at_most(f"{name}: p99 at half the peak rate", texts[0], ratio, 1.5, reference=texts[1])]


def _same(fault: str, ours: Mapping[str, object], reference: Mapping[str, object]) -> None:
    """Raise RuntimeError, with the differences by table, unless the reference writes the same as the service."""
    tables = [table for table in {**ours, **reference} if ours.get(table) != reference.get(table)]
    if tables:
        lines = [f"{table}: {ours.get(table)}, the reference {reference.get(table)}" for table in tables]
        raise RuntimeError("\n".join([fault, *lines]))


def _reads(service: Service, name: str, paths: Sequence[str], ours: Side, reference: Side) -> Row:
    def sent(side: Side) -> Sequence[str]:
        return [request("GET", path, port=side.port, key=service.key) for path in paths]

    return _rates(f"{name}: rate, {CONNECTIONS} connections", ours, reference, sent, 0.6)


def _validation(service: Service, ours: Side, bare: Side) -> Row:
    body = _validated(service, f"A note of some length about our release, {MARK}: https://example.com/notes?page=1 …")
    same_answers(service, bare.port, body, None, None)

    def sent(side: Side) -> Sequence[str]:
        return [request("POST", "/posts/validate", port=side.port, key=service.key, body=body)]

    for side in (ours, bare):
        side.burst(sent(side), seconds=WARM_SECONDS)
    name = f"POST /posts/validate, {len(PLATFORMS)} platforms, beside bare WSGI: rate"
    return _rates(name, ours, bare, sent, 0.5)


def _rates(name: str, ours: Side, other: Side, sent: Make, least: float) -> Row:
    for side in (ours, other):
        side.forget()
    for _ in range(TURNS):
        for side in (ours, other):
            side.burst(sent(side), seconds=READ_SECONDS, connections=CONNECTIONS)
    texts = [f"{side.rate:.0f}/s, {side.cpu_ms:.2f} ms CPU each" for side in (ours, other)]
    return at_least(name, texts[0], ours.rate / other.rate, least, reference=texts[1])


def _new_posts(service: Service, side: Side) -> list[str]:
    """Return requests of new posts, one after the other for all accounts."""
    mark = uuid.uuid4().hex
    return [
        request(
            "POST",
            "/posts",
            port=side.port,
            key=service.key,
            body=post_body(service, number, f"bench {mark} {MARK}"),
            repeat_key=f"{mark}-{MARK}",
        )
        for number in range(len(service.accounts))
    ]


def _warm(service: Service, sides: Sequence[Side]) -> None:
    """Send requests until every thread has a connection and every statement is prepared."""
    for side in sides:
        side.burst(_new_posts(service, side), seconds=WARM_SECONDS)
        side.forget()


def _fill_day(service: Service) -> date:
    """Create posts on a day that has no others; return the day."""
    day = datetime.now(UTC).date() + timedelta(days=200)
    noon = datetime.combine(day, time(12), tzinfo=UTC).isoformat().replace("+00:00", "Z")
    for begin in range(0, ON_THE_DAY, 50):
        posts = [post_body(service, number, f"on the day {number}") for number in range(begin, begin + 50)]
        for post in posts:
            del post["workspace_id"]
        batch = [{**post, "scheduled_at": noon} for post in posts]
        service.call("POST", "/posts/batch", {"workspace_id": service.workspace_id, "posts": batch})
    return day


def _day_path(service: Service, day: date) -> str:
    return f"/posts?workspace_id={service.workspace_id}&date={day}&timezone=Europe/Berlin&limit={ON_THE_DAY}"


def _validated(service: Service, text: str) -> dict[str, Any]:
    accounts = service.call("GET", "/accounts", workspace_id=service.workspace_id, limit=200)["accounts"]
    account = {each["platform"]: each["id"] for each in accounts}
    targets = [{"platform": platform, "connected_account_id": account[platform]} for platform in PLATFORMS]
    return {"workspace_id": service.workspace_id, "text": text, "targets": targets}


@contextmanager
def _reference(service: Service) -> Iterator[tuple[Side, Side]]:
    """Yield the service and the reference API, each with two processes."""
    if not PYTHON.exists():
        raise CannotRun("The reference is not installed: make .venv-bench/installed")
    port = free_port()
    command = [str(PYTHON), "-m", "uvicorn", "tests.bench.reference.app:app", "--workers", "2", "--port", str(port)]
    with _beside(service, "reference", [*command, "--loop", "uvloop", "--http", "httptools"], port) as sides:
        yield sides


@contextmanager
def _bare_validation(service: Service) -> Iterator[tuple[Side, Side]]:
    """Yield the service and the bare validation view, under the same server with as many processes and threads."""
    port, workers = free_port(), "1" if service.stack.redis is None else "2"
    command = [sys.executable, "-m", "gunicorn", "tests.bench.bare_validation:application"]
    command += ["-c", "python:config.gunicorn", "--bind", f"127.0.0.1:{port}", "--workers", workers]
    with _beside(service, "bare-validation", command, port) as sides:
        yield sides


@contextmanager
def _beside(service: Service, name: str, command: Sequence[str], port: int) -> Iterator[tuple[Side, Side]]:
    program = started(service.stack, name, command, port)
    try:
        yield Side(service.stack.port, lambda: service.stack.pids("web")), Side(port, program.pids)
    finally:
        program.end()
