"""Injects faults into the service: kills and freezes processes, stops servers, drops and doubles wake-ups."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from celery import Celery
from kombu.exceptions import OperationalError

from tests.chaos.processes import Program
from tests.chaos.stack import Stack

LEASE_SECONDS = 20.0  # what a worker's claim on a target lasts: a frozen one must have lost it when it goes on
SETTLED_SECONDS = 60.0  # after which the service takes it that what a platform does not show is not there
LONG_FREEZES = 0.2
BELLS = ("publish", "deliver")
WAKE = "config.wake"
Act = Callable[[], bool]  # whether it could be done


class Storm:
    """A thread that injects a random fault about every `pause` seconds."""

    def __init__(self, stack: Stack, rng: random.Random, *, pause: float) -> None:
        self.faults: Counter[str] = Counter()
        self._stack = stack
        self._rng = rng
        self._pause = pause
        self._calm = threading.Event()
        self._lasting: dict[str, threading.Thread] = {}
        self._thread = threading.Thread(target=self._run, name="storm", daemon=True)

    @property
    def running(self) -> bool:
        """Return whether the thread still injects faults."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Start to inject faults."""
        self._thread.start()

    def calm(self) -> None:
        """Inject no more faults and resume stopped or frozen processes."""
        self._calm.set()
        if self._thread.ident is not None:
            self._thread.join()
        for thread in self._lasting.values():
            thread.join()

    def _run(self) -> None:
        """Inject each kind of fault once in random order, then by weight."""
        kinds = self._kinds()
        weights = [weight for weight, _, _ in kinds]
        first = self._rng.sample(kinds, len(kinds))
        while not self._calm.wait(self._rng.expovariate(1 / self._pause)):
            _, name, act = first.pop() if first else self._rng.choices(kinds, weights)[0]
            self._stack.note(name)
            if act():
                self.faults[name] += 1

    def _kinds(self) -> list[tuple[int, str, Act]]:
        """Return each possible fault of this stack as (weight, name, function)."""
        kinds: list[tuple[int, str, Act]] = [
            (20, "kill -9 worker", lambda: self._kill("worker")),
            (12, "kill -9 web", lambda: self._kill("web")),
            (5, "kill -9 beat", lambda: self._kill("beat")),
            (4, "worker frozen beyond its lease", self._freeze_worker),
            (3, "rolling restart", lambda: self._lasts("a worker", self._stack.restart_gently)),
        ]
        if redis := self._stack.redis:
            kinds += [
                (8, "wake-ups doubled", self._double_wake_ups),
                (5, "wake-ups dropped", redis.flush),
                (3, "Redis stopped", lambda: self._stop(redis, signal.SIGTERM)),
                (3, "Redis killed", lambda: self._stop(redis, signal.SIGKILL)),
                (3, "Redis frozen", lambda: self._freeze("redis", redis.pids(), self._rng.uniform(2.0, 10.0))),
            ]
        if postgres := self._stack.postgres:
            kinds += [
                (2, "PostgreSQL stopped (fast)", lambda: self._stop(postgres, signal.SIGINT)),
                (3, "PostgreSQL stopped (immediate)", lambda: self._stop(postgres, signal.SIGQUIT)),
                (5, "PostgreSQL sessions cut", lambda: postgres.cut_sessions(self._rng.uniform(0.2, 1.0))),
            ]
        return kinds

    def _kill(self, kind: str) -> bool:
        pids = self._stack.pids(kind)
        if not pids:
            return False
        with suppress(ProcessLookupError):
            os.kill(self._rng.choice(pids), signal.SIGKILL)
        return True

    def _freeze_worker(self) -> bool:
        """Freeze a worker until its leases expire, then resume it."""
        short, long = LEASE_SECONDS + self._rng.uniform(2.0, 10.0), SETTLED_SECONDS + self._rng.uniform(2.0, 15.0)
        seconds = long if self._rng.random() < LONG_FREEZES else short
        return self._freeze("a worker", self._stack.pids("worker"), seconds)

    def _freeze(self, what: str, pids: list[int], seconds: float) -> bool:
        if not pids:
            return False
        pid = self._rng.choice(pids)

        def freeze() -> None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
                self._calm.wait(seconds)
                os.kill(pid, signal.SIGCONT)

        return self._lasts(what, freeze)

    def _stop(self, server: Program, number: int) -> bool:
        seconds = self._rng.uniform(1.0, 8.0)

        def stop() -> None:
            server.stop(number)
            self._calm.wait(seconds)
            server.wanted = True

        return self._lasts(server.name, stop)

    def _double_wake_ups(self) -> bool:
        assert self._stack.redis is not None
        url, times = self._stack.redis.url, self._rng.randint(2, 20)

        def wake() -> None:
            options = {"socket_timeout": 2, "socket_connect_timeout": 2}
            with Celery("chaos", broker=url, set_as_current=False, broker_transport_options=options) as app:
                for _ in range(times):
                    for duty in BELLS:
                        with suppress(OperationalError, OSError):
                            app.send_task(WAKE, args=[duty], retry=False, ignore_result=True)

        return self._lasts("wake-ups", wake)

    def _lasts(self, what: str, work: Callable[[], None]) -> bool:
        """Run a lasting fault in a thread, unless it is already in progress."""
        running = self._lasting.get(what)
        if running is not None and running.is_alive():
            return False
        self._lasting[what] = threading.Thread(target=work, name=f"fault-{what}", daemon=True)
        self._lasting[what].start()
        return True
