"""Machines that share one PostgreSQL and one Redis server and nothing else: each a web program and a worker, with a data
directory of its own."""

from __future__ import annotations

import base64
import os
import random
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg
import requests

from tests.chaos.processes import Program, free_port
from tests.chaos.stack import DEMO, DistributedStack, wait_until

NAMES = ("north", "south")
PYTHON = sys.executable
GUNICORN = [PYTHON, "-m", "gunicorn", "config.wsgi:application", "-c", "python:config.gunicorn", "--workers", "1"]
CELERY = [PYTHON, "-m", "celery", "-A", "config.celery", "-q", "worker", "-P", "threads", "-c", "8"]
# As systemd starts a program for a socket that it holds: the socket is descriptor 3, and two variables say so.
BY_SOCKET = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.set_inheritable(3, True); "
    "os.environ |= {'LISTEN_FDS': '1', 'LISTEN_PID': str(os.getpid())}; os.execv(sys.argv[2], sys.argv[2:])"
)
READS_SESSIONS = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"


@dataclass(frozen=True)
class Machine:
    """The programs of one machine."""

    name: str
    url: str
    web: Program
    worker: Program

    def stop(self) -> None:
        """Stop all programs with SIGTERM."""
        for program in (self.worker, self.web):
            program.stop(signal.SIGTERM)

    def start(self, *programs: Program) -> None:
        """Start these programs (all if none is named) and wait until the web program answers, if it should."""
        for program in programs or (self.worker, self.web):
            program.wanted = True
            wait_until(lambda program=program: program.running, f"{program.name} of {self.name}")  # type: ignore[misc]
        if self.web.wanted:
            wait_until(self.answers, self.url)

    def answers(self) -> bool:
        """Return whether the web program answers health checks."""
        with suppress(requests.RequestException), requests.Session() as session:
            session.trust_env = False
            return session.get(f"{self.url}/healthz", timeout=5).status_code == 200
        return False


class Machines(DistributedStack):
    """Two machines, and optionally a web program with a socket held by another process."""

    def __init__(self, home: Path) -> None:
        secrets = {
            "SECRET_KEY": base64.b64encode(os.urandom(48)).decode(),
            "ENCRYPTION_KEYS": base64.urlsafe_b64encode(os.urandom(32)).decode(),
        }
        super().__init__(home, secrets, random.Random(1), beats=0)
        self.all: list[Machine] = []
        self.most_sessions = 0

    def start(self) -> None:
        self._start_servers()
        self.run("manage.py", "migrate", "--verbosity", "0")
        self.run("manage.py", "shell", "--no-imports", "-c", DEMO.format(base_url=self.base_url))
        self.all = [self._machine(name, port) for name, port in zip(NAMES, (self.port, free_port()), strict=True)]
        for machine in self.all:
            self.manager.add(machine.web, machine.worker)
        for machine in self.all:
            wait_until(machine.answers, machine.url)
        self.wait_ready()

    def held(self) -> Machine:
        """Create a machine whose web program's socket this process holds, as systemd does; returns when it answers.

        It shares the worker of the first.
        """
        listener = socket.create_server(("127.0.0.1", free_port()), backlog=2048)
        self._listener = listener  # open as long as this
        command = [PYTHON, "-c", BY_SOCKET, str(listener.fileno()), *GUNICORN]
        web = self._program("held-web", command, descriptors=[listener.fileno()])
        self.manager.add(web)
        machine = Machine("held", f"http://127.0.0.1:{listener.getsockname()[1]}", web, self.all[0].worker)
        wait_until(machine.answers, machine.url)
        return machine

    def count_sessions(self) -> None:
        """Count the service's database connections and store the maximum."""
        with suppress(psycopg.Error), psycopg.connect(self.environ["DATABASE_URL"], connect_timeout=2) as connection:
            row = connection.execute(READS_SESSIONS).fetchone()
            self.most_sessions = max(self.most_sessions, row[0] if row else 0)

    def _machine(self, name: str, port: int) -> Machine:
        web = self._program(f"{name}-web", [*GUNICORN, "--bind", f"127.0.0.1:{port}"])
        worker = self._program(f"{name}-worker", [*CELERY, "--loglevel", "INFO", "-n", f"{name}@rolling"])
        return Machine(name, f"http://127.0.0.1:{port}", web, worker)

    def _program(self, name: str, command: Sequence[str], *, descriptors: Sequence[int] = ()) -> Program:
        environ = {**self.environ, "DATA_DIR": str(self.home / name)}
        return Program(name, command, environ=environ, logs=self.logs, descriptors=descriptors)
