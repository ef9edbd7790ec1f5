"""The service's processes in a chaos run: distributed on PostgreSQL and Redis, or embedded on SQLite."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path

import requests

from tests.chaos.processes import (
    PostgresServer,
    ProcessManager,
    Program,
    RedisServer,
    borrowed_database,
    free_port,
    postgres_binaries,
)

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 90.0
KINDS = ("web", "worker", "beat")
DEMO = "from config.runtime import demo; demo.create_or_find_demo_workspace_or_none(base_url={base_url!r})"
SETTINGS = {
    "ENVIRONMENT": "development",
    "RATE_LIMIT_PER_MINUTE": "1000000",
    "WORKSPACE_RATE_LIMIT_PER_MINUTE": "1000000",
    "MAX_WORKSPACES_PER_OWNER": "1000000",
    "OUTBOUND_ALLOW_LOOPBACK": "true",
    # Together longer than the minute after which a post that a platform does not show is certainly not there.
    "PUBLISH_RETRY_SCHEDULE": "1,2,4,8,16,20,20",
    "WEBHOOK_RETRY_SCHEDULE": "1,2,4,8,8,8",
}


class CannotRun(Exception):
    """A requirement of the run is missing on this machine."""


class Stack:
    """The processes of one run in the folder `home`; their output goes to `home`/logs."""

    def __init__(self, home: Path, settings: Mapping[str, str], rng: random.Random, *, beats: int = 2) -> None:
        self.home = home
        self.beats = beats
        self.logs = home / "logs"
        self.logs.mkdir()
        self.manager = ProcessManager(rng)
        self.port = free_port()
        self.postgres: PostgresServer | None = None
        self.redis: RedisServer | None = None
        self.slowest_stop = 0.0
        self.left_out = ""  # what cannot be done on this machine
        self._borrowed = ExitStack()
        # What the caller's shell has set, a database above all, is not this service's.
        inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
        own = {"DATA_DIR": str(home / "data"), "BASE_URL": self.base_url, "REDIS_URL": ""}
        own["DATABASE_URL"] = f"sqlite:///{home / 'data' / 'service.sqlite3'}"
        self.environ = {**inherited, **SETTINGS, **own, **settings}

    @property
    def base_url(self) -> str:
        """Return the address of the API."""
        return f"http://127.0.0.1:{self.port}"

    def note(self, what: str) -> None:
        """Log an event of the run with its time."""
        with open(self.logs / "chaos.log", "a") as log:
            log.write(f"{datetime.now(UTC):%F %H:%M:%S.%f} {what}\n")

    def start(self) -> None:
        """Start everything and wait until it is ready. Raises CannotRun."""
        raise NotImplementedError

    def pids(self, kind: str) -> list[int]:
        """Return the ids of the living processes of a kind of KINDS."""
        raise NotImplementedError

    def restart_gently(self) -> None:
        """Restart all programs in turn with SIGTERM, as in a deployment."""
        raise NotImplementedError

    def stop_service(self) -> None:
        """End web, workers and beats; the database runs on for the final reading."""
        raise NotImplementedError

    def stop(self) -> None:
        """End everything that was started."""
        with self._borrowed:
            self.manager.stop_all()

    @property
    def demo(self) -> dict[str, str]:
        """Return the workspace and its key, as the service wrote them on its first start."""
        content: dict[str, str] = json.loads((self.home / "data" / "demo.json").read_text())
        return content

    def run(self, *arguments: str) -> str:
        """Run a Python command of the service and return its output. Raises CannotRun."""
        done = subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, env=self.environ, capture_output=True, text=True, timeout=120
        )
        if done.returncode:
            raise CannotRun(f"{' '.join(arguments[:3])} failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def wait_ready(self) -> None:
        """Wait until /readyz answers 200. Raises CannotRun."""
        wait_until(self._ready, f"{self.base_url}/readyz")

    def _ready(self) -> bool:
        with suppress(requests.RequestException), requests.Session() as session:
            session.trust_env = False
            return session.get(f"{self.base_url}/readyz", timeout=5).status_code == 200
        return False


class DistributedStack(Stack):
    """gunicorn, two workers and `beats` beat processes (none if embedded) on their own PostgreSQL and Redis servers.

    Where no PostgreSQL server can be started, DATABASE_URL names one, which is then never stopped.
    """

    def start(self) -> None:
        self._start_servers()
        self.run("manage.py", "migrate", "--verbosity", "0")
        self.run("manage.py", "shell", "--no-imports", "-c", DEMO.format(base_url=self.base_url))
        celery = [sys.executable, "-m", "celery", "-A", "config.celery", "-q"]
        gunicorn = [sys.executable, "-m", "gunicorn", "config.wsgi:application", "-c", "python:config.gunicorn"]
        commands = {
            "web": [*gunicorn, "--bind", f"127.0.0.1:{self.port}", "--workers", "2"],
            "worker-1": [*celery, "worker", "-P", "threads", "-c", "4", "--loglevel", "INFO", "-n", "one@chaos"],
            "worker-2": [*celery, "worker", "-P", "threads", "-c", "4", "--loglevel", "INFO", "-n", "two@chaos"],
            **{f"beat-{number}": [*celery, "beat", "--pidfile", ""] for number in range(1, self.beats + 1)},
        }
        self._service = [Program(name, command, environ=self.environ, logs=self.logs) for name, command in commands.items()]
        self.manager.add(*self._service)
        self.wait_ready()

    def pids(self, kind: str) -> list[int]:
        return [pid for program in self._service if program.name.startswith(kind) for pid in program.pids()]

    def restart_gently(self) -> None:
        for program in self._service:
            if program.name.startswith("beat"):
                continue
            self.slowest_stop = max(self.slowest_stop, program.stop(signal.SIGTERM))
            program.wanted = True
            with suppress(CannotRun):
                wait_until(lambda program=program: program.running, program.name)  # type: ignore[misc]

    def stop_service(self) -> None:
        for program in self._service:
            self.slowest_stop = max(self.slowest_stop, program.stop(signal.SIGTERM))

    def _start_servers(self) -> None:
        binaries, redis_server = postgres_binaries(), shutil.which("redis-server")
        if redis_server is None:
            raise CannotRun("redis-server is not installed. Install it, or run with --embedded.")
        self.redis = RedisServer(redis_server, self.home, self.logs)
        self.manager.add(self.redis)
        self.environ["REDIS_URL"] = self.redis.url
        if binaries is not None:
            self.postgres = PostgresServer(binaries, self.home, self.logs)
            self.manager.add(self.postgres)
            self.environ["DATABASE_URL"] = self.postgres.url
            wait_until(self.postgres.answers, "PostgreSQL")
        elif server := os.environ.get("DATABASE_URL", ""):
            self.left_out = "no PostgreSQL server can be started here: that of DATABASE_URL is used and NOT stopped"
            self.environ["DATABASE_URL"] = self._borrowed.enter_context(borrowed_database(server))
        else:
            raise CannotRun("No PostgreSQL server can be started here, and DATABASE_URL names none. Try --embedded.")
        wait_until(self.redis.answers, "Redis")


class EmbeddedStack(Stack):
    """`manage.py up`: one web and one worker process on SQLite, without a broker; `up` itself restarts what dies."""

    MARKS = {"web": b"gunicorn", "worker": b"celery"}  # the worker keeps the time itself: there is no beat process

    def start(self) -> None:
        command = [sys.executable, "manage.py", "up", "--port", str(self.port)]
        self._up = Program("up", command, environ=self.environ, logs=self.logs)
        self.manager.add(self._up)
        self.wait_ready()

    def pids(self, kind: str) -> list[int]:
        mark = self.MARKS.get(kind)
        return [pid for pid in self._up.pids()[1:] if mark and mark in _command_line(pid)]

    def restart_gently(self) -> None:
        for kind in ("web", "worker"):
            for pid in self.pids(kind):
                os.kill(pid, signal.SIGTERM)

    def stop_service(self) -> None:
        self.slowest_stop = max(self.slowest_stop, self._up.stop(signal.SIGTERM))


def wait_until(true: Callable[[], bool], what: str, *, seconds: float = START_SECONDS) -> None:
    """Wait until `true()` is true; raises CannotRun after the time-out."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            raise CannotRun(f"{what} is not ready after {seconds:g} s.")
        time.sleep(0.2)


def _command_line(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""
