"""Tests rolling restarts of two machines on one PostgreSQL and Redis: no request may be lost.

Run as `python -m tests.chaos.rolling`. First each machine's worker is stopped, then all of it, while posts are made on the
one and on the other. Then requests come at a steady rate while every program is restarted, one after the other, as
docs/upgrade.md has it: passed on by turns, and to the other machine where a connection is refused, as a load balancer does.
Last the same with one web program whose socket is held by another, as systemd does. A request is lost when it gets no
answer, or another one than success or a 503 that says Retry-After. Exit status 0 when none was.
"""

from __future__ import annotations

import argparse
import itertools
import queue
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import requests
import urllib3

from tests.chaos.machines import Machine, Machines
from tests.chaos.stack import CannotRun, wait_until

CALLERS = 24
ANSWER_SECONDS = 30.0
STEADY_SECONDS = 4.0  # of undisturbed requests before, between and after the restarts
OUT_SECONDS = 15.0  # how long a post that is due now may take
READS_STATUSES = "SELECT status, count(*) FROM posts_postgroup GROUP BY status"


@dataclass
class Tally:
    """The results of the requests; `seconds` has the time of each answered one."""

    counts: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    groups: dict[str, set[str]] = field(default_factory=dict)  # by Idempotency-Key
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, what: str) -> None:
        with self.lock:
            self.counts[what] += 1

    def lose(self, what: str) -> None:
        with self.lock:
            self.lost.append(f"{time.strftime('%X')} {what}")


class Caller:
    """One caller behind the load balancer; not for several threads. `patient` connections are reused for further requests."""

    def __init__(self, urls: Sequence[str], token: str, tally: Tally, *, patient: bool) -> None:
        self._urls = urls
        self._tally = tally
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.headers["Authorization"] = f"Bearer {token}"
        if not patient:
            self._session.headers["Connection"] = "close"

    def call(self, turn: int, method: str, path: str, body: Any = None, key: str = "") -> dict[str, Any] | None:
        """Repeat a request until it is answered; returns None when it is lost."""
        headers = {"Idempotency-Key": key} if key else {}
        began = time.monotonic()
        while time.monotonic() < began + ANSWER_SECONDS:
            answer = self._pass_on(turn, method, path, body, headers)
            if answer is None:
                return None
            if answer.status_code == 503 and "Retry-After" in answer.headers:
                self._tally.count("503 with Retry-After, asked again")
                time.sleep(min(float(answer.headers["Retry-After"]), 2.0))
                continue
            if answer.status_code not in (200, 201):
                self._tally.lose(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
                return None
            with self._tally.lock:
                self._tally.counts[f"answered {answer.status_code}"] += 1
                self._tally.seconds.append(time.monotonic() - began)
            return dict(answer.json())
        self._tally.lose(f"{method} {path}: nothing but 503 for {ANSWER_SECONDS:g} s")
        return None

    def _pass_on(self, turn: int, method: str, path: str, body: Any, headers: dict[str, str]) -> Any:
        """Return the answer of the machine whose turn it is, or of the next one if no connection was made."""
        for tries in range(len(self._urls)):
            url = self._urls[(turn + tries) % len(self._urls)]
            try:
                return self._session.request(method, url + path, json=body, headers=headers, timeout=ANSWER_SECONDS)
            except requests.ConnectionError as error:
                reason = getattr(error.args[0] if error.args else None, "reason", None)
                if not isinstance(reason, urllib3.exceptions.NewConnectionError):
                    self._tally.lose(f"{method} {path}: broken off: {error}")
                    return None
                self._tally.count("connection refused, passed to the next machine")
            except requests.RequestException as error:
                self._tally.lose(f"{method} {path}: {error}")
                return None
        self._tally.lose(f"{method} {path}: refused by every machine")
        return None


class Requests:
    """Sends requests at a steady rate until `stop`: new posts, posts that wait for their result, and reads of them."""

    def __init__(self, urls: Sequence[str], demo: dict[str, str], rate: float, tally: Tally, name: str) -> None:
        self._demo, self._rate, self._tally, self._name = demo, rate, tally, name
        self._waiting: queue.Queue[int | None] = queue.Queue()
        self._last_group = ""
        self._stop = threading.Event()
        callers = [Caller(urls, demo["api_key"], tally, patient=number % 2 == 0) for number in range(CALLERS)]
        self._threads = [threading.Thread(target=self._send_all, args=(each,), daemon=True) for each in callers]
        self._clock = threading.Thread(target=self._keep_time, daemon=True)

    def start(self) -> None:
        for thread in (*self._threads, self._clock):
            thread.start()

    def stop(self) -> None:
        """Stop sending, and wait for outstanding answers."""
        self._stop.set()
        self._clock.join()
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join(2 * ANSWER_SECONDS)

    def _keep_time(self) -> None:
        began = time.monotonic()
        for number in itertools.count():
            if self._stop.wait(max(0.0, began + number / self._rate - time.monotonic())):
                return
            self._waiting.put(number)

    def _send_all(self, caller: Caller) -> None:
        while (number := self._waiting.get()) is not None:
            if number % 10 >= 6 and self._last_group:
                caller.call(number, "GET", f"/posts/{self._last_group}")
            else:
                self._post(caller, number)

    def _post(self, caller: Caller, number: int) -> None:
        key = f"{self._name}-{number}"
        answer = caller.call(number, "POST", "/posts", post_of(self._demo, key, wait=number % 10 == 5), key)
        if answer is not None:
            self._last_group = answer["post_group"]["id"]
            with self._tally.lock:
                self._tally.groups.setdefault(key, set()).add(self._last_group)


def post_of(demo: dict[str, str], text: str, *, wait: bool = False) -> dict[str, Any]:
    """Return the body of a sandbox post that is due now."""
    target = {"platform": demo["sandbox_platform"], "connected_account_id": demo["sandbox_account_id"]}
    return {"text": text, "targets": [target], "wait": wait}


def posts_go_out_elsewhere(stack: Machines, tally: Tally) -> None:
    """Check that posts created on one machine are published by the other, with either of them stopped."""
    for here, there in (stack.all, reversed(stack.all)):
        here.worker.stop()
        for machine, what in ((here, "made here, sent there"), (there, "made and sent there")):
            if machine is there:
                here.stop()
            caller = Caller([machine.url], stack.demo["api_key"], tally, patient=False)
            key = f"{here.name} {what}"
            body = caller.call(0, "POST", "/posts", post_of(stack.demo, key), key) or {}
            group = body["post_group"]["id"]
            began = time.monotonic()

            def is_out(caller: Caller = caller, group: str = group) -> bool:
                answer = caller.call(0, "GET", f"/posts/{group}") or {}
                return bool(answer["post_group"]["status"] == "published")

            wait_until(is_out, f"the post {key}")
            took = time.monotonic() - began
            if took > OUT_SECONDS:
                tally.lose(f"{key}: took {took:.1f} s")
            say(f"{'worker' if machine is here else 'all'} of {here.name} stopped: {what} in {took:.1f} s")
            tally.groups[key] = {group}
        here.start()


def under_requests(load: Requests, stack: Machines, restarts: Sequence[tuple[Machine, str]]) -> None:
    """Restart all programs in turn while requests arrive."""
    load.start()
    for machine, kind in restarts:
        steady_until = time.monotonic() + STEADY_SECONDS
        while time.monotonic() < steady_until:
            stack.count_sessions()
            time.sleep(0.5)
        began = time.monotonic()
        restart(machine, kind)
        say(f"{kind} of {machine.name} restarted in {time.monotonic() - began:.1f} s")
    time.sleep(STEADY_SECONDS)
    load.stop()


def restart(machine: Machine, kind: str) -> None:
    """Stop the machine's `web` or `worker` by SIGTERM and start it again; returns when the machine answers."""
    program = getattr(machine, kind)
    program.stop()
    machine.start(program)


def everything_went_out(stack: Machines, tally: Tally) -> None:
    """Check that each accepted post is one group and that each group is published."""
    expected = len(tally.groups)
    doubled = [key for key, groups in tally.groups.items() if len(groups) > 1]
    with psycopg.connect(stack.environ["DATABASE_URL"]) as connection:
        connection.autocommit = True

        def statuses() -> dict[str, int]:
            return dict(connection.execute(READS_STATUSES).fetchall())

        wait_until(lambda: set(statuses()) <= {"published"}, "the end of every post")
        found = statuses()
    if doubled or found != {"published": expected}:
        tally.lose(f"{expected} posts were taken, the database has {found}; doubled: {doubled}")


def report(tallies: dict[str, Tally], stack: Machines) -> bool:
    """Print the results; return whether no request was lost."""
    for name, tally in tallies.items():
        rows = [(str(times), what) for what, times in sorted(tally.counts.items())]
        if len(tally.seconds) > 1:
            cuts = statistics.quantiles(tally.seconds, n=100, method="inclusive")
            times = f"{cuts[49]:.2f} {cuts[98]:.2f} {max(tally.seconds):.2f}"
            rows.append((times, "seconds to the answer: median, p99, most"))
        rows.append((str(len(tally.lost)), "lost"))
        lines = [f"{figure:>18}  {what}" for figure, what in rows] + [f"    {line}" for line in tally.lost[:20]]
        sys.stdout.write("\n".join([name, *lines, ""]))
    sys.stdout.write(f"{stack.most_sessions:>18}  connections to PostgreSQL at the most\n")
    return not any(tally.lost for tally in tallies.values())


def say(line: str) -> None:
    """Print progress to standard error."""
    sys.stderr.write(f"rolling: {line}\n")
    sys.stderr.flush()


def main(arguments: list[str]) -> int:
    """Run the restarts; return 0 when no request was lost, 1 when one was, 2 when the test cannot run on this machine."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.rolling", description="No request is lost.")
    parser.add_argument("--rate", type=float, default=20.0, help="requests a second (default: %(default)s)")
    rate = parser.parse_args(arguments).rate
    home = Path(tempfile.mkdtemp(prefix="rolling-"))
    home.chmod(0o711)  # the database's user has to pass through
    stack = Machines(home)
    apart, rolling, held = Tally(), Tally(), Tally()
    holds = False
    try:
        say(f"starting two machines in {home}")
        stack.start()
        posts_go_out_elsewhere(stack, apart)
        urls = [machine.url for machine in stack.all]
        # The order of docs/upgrade.md.
        in_turn = [(machine, kind) for kind in ("worker", "web") for machine in stack.all]
        under_requests(Requests(urls, stack.demo, rate, rolling, "rolling"), stack, in_turn)
        alone = stack.held()
        under_requests(Requests([alone.url], stack.demo, rate, held, "held"), stack, [(alone, "web")])
        everything = Tally(groups=apart.groups | rolling.groups | held.groups)
        everything_went_out(stack, everything)
        tallies = {"apart": apart, "rolling restart": rolling, "one web program": held, "all posts": everything}
        holds = report(tallies, stack)
        return 0 if holds else 1
    except CannotRun as error:
        say(f"cannot run: {error}")
        return 2
    finally:
        stack.stop()
        if holds:
            shutil.rmtree(home)
        else:
            say(f"the output of every process is in {home}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
