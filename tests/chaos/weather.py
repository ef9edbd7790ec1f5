"""Injects faults into the platforms of a chaos run: for their next calls, or in their proxy for a while."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress

from tests.chaos.gate import Door
from tests.chaos.platforms import Platform

MOST_AHEAD = 4  # faults that wait for one call: they must not pile up while nobody calls


class Weather:
    """A thread that injects a random fault into a random platform about every `pause` seconds."""

    def __init__(
        self, platforms: Sequence[Platform], rng: random.Random, *, pause: float, note: Callable[[str], None]
    ) -> None:
        self.faults: Counter[str] = Counter()
        self._platforms = platforms
        self._rng = rng
        self._pause = pause
        self._note = note
        self._calm = threading.Event()
        self._thread = threading.Thread(target=self._run, name="weather", daemon=True)

    @property
    def running(self) -> bool:
        """Return whether the thread still injects faults."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Start to inject faults."""
        self._thread.start()

    def calm(self) -> None:
        """Inject no more faults and open all proxies."""
        self._calm.set()
        if self._thread.ident is not None:
            self._thread.join()
        for platform in self._platforms:
            platform.server.forget_faults()
            platform.gate.set_door(Door.OPEN)

    def _run(self) -> None:
        acts, weights = list(FAULTS), list(FAULTS.values())
        while not self._calm.wait(self._rng.expovariate(1 / self._pause)):
            platform = self._rng.choice(self._platforms)
            act = self._rng.choices(acts, weights)[0]
            name = act.__name__.replace("_", " ")
            if platform.server.faults_ahead(platform.publishing) < MOST_AHEAD and act(platform, self._rng):
                self._note(f"{platform.label}: {name}")
                self.faults[name] += 1


def accepts_and_hangs_up(platform: Platform, rng: random.Random) -> bool:
    """Accept the post and close the connection without an answer."""
    platform.server.drop_next(platform.publishing)
    return True


def hangs_up(platform: Platform, rng: random.Random) -> bool:
    """Close the connection without accepting the post."""
    platform.server.drop_next(platform.publishing, after_accept=False)
    return True


def answers_an_error(platform: Platform, rng: random.Random) -> bool:
    """Answer 500 or 504, with the post accepted or not."""
    status, taken = rng.choice((500, 504)), rng.random() < 0.5
    platform.server.fail_next(platform.publishing, status, after_accept=taken)
    return True


def fails_beside(platform: Platform, rng: random.Random) -> bool:
    """Make a call other than publishing fail."""
    if platform.others:
        platform.server.fail_next(rng.choice(platform.others), rng.choice((500, 503)))
    return bool(platform.others)


def limits_the_rate(platform: Platform, rng: random.Random) -> bool:
    """Answer a few calls with 429 and Retry-After."""
    if not platform.may_limit:
        return False
    answer = platform.rate_limited(rng.randint(1, 4))
    platform.server.refuse_next(platform.publishing, answer, times=rng.randint(1, 5))
    return True


def hangs_after_taking(platform: Platform, rng: random.Random) -> bool:
    """Accept the post and delay the answer."""
    _later(rng.uniform(2.0, 28.0), platform.server.hold_next(platform.publishing).set)
    return True


def takes_nothing_up(platform: Platform, rng: random.Random) -> bool:
    """Accept connections for a while without reading."""
    return _set_door_for(platform, Door.SILENT, rng.uniform(1.0, 6.0))


def refuses_connections(platform: Platform, rng: random.Random) -> bool:
    """Refuse connections for a while."""
    return _set_door_for(platform, Door.REFUSING, rng.uniform(1.0, 4.0))


def ends_access(platform: Platform, rng: random.Random) -> bool:
    """Let all access tokens expire, unless they are new."""
    return platform.end_access()


FAULTS: dict[Callable[[Platform, random.Random], bool], int] = {
    accepts_and_hangs_up: 24,
    hangs_up: 8,
    answers_an_error: 24,
    fails_beside: 8,
    limits_the_rate: 8,
    hangs_after_taking: 10,
    takes_nothing_up: 3,
    refuses_connections: 4,
    ends_access: 3,
}


def _set_door_for(platform: Platform, door: Door, seconds: float) -> bool:
    """Change the platform's proxy and restore it later."""
    platform.gate.set_door(door)

    def reopen() -> None:
        with suppress(RuntimeError, TimeoutError):  # the run is over
            platform.gate.set_door(Door.OPEN)

    _later(seconds, reopen)
    return True


def _later(seconds: float, act: Callable[[], None]) -> None:
    timer = threading.Timer(seconds, act)
    timer.daemon = True
    timer.start()
