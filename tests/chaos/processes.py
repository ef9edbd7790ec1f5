"""The programs, PostgreSQL and Redis servers that a chaos run starts, kills and restarts."""

from __future__ import annotations

import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import redis

PORTS = range(20_000, 32_000)  # below those that the kernel hands out, so that a server gets its port again
LOOK_SECONDS = 0.1


class Program:
    """One program in its own session with its output in a file; `wanted` says whether it should run.

    `keep` is the process manager's look at it: one that died is buried and, after a pause, started again.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        environ: Mapping[str, str],
        logs: Path,
        user: str | None = None,
        descriptors: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.command = command
        self.environ = environ
        self.log = logs / f"{name}.log"
        self.user = user
        self.descriptors = descriptors  # open files of this process that it inherits
        self.wanted = False
        self._process: subprocess.Popen[bytes] | None = None
        self._start_at = 0.0
        self._lock = threading.Lock()

    @property
    def running(self) -> bool:
        """Return whether the main process is running."""
        process = self._process
        return process is not None and process.poll() is None

    def pids(self) -> list[int]:
        """Return the ids of the running main process and its children."""
        process = self._process
        if process is None or process.poll() is not None:
            return []
        with suppress(OSError):
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
            return [process.pid, *map(int, children.split())]
        return [process.pid]

    def keep_running(self, pause: float) -> None:
        """Restart the program `pause` seconds after it ended, if it should run."""
        with self._lock:
            now = time.monotonic()
            if self._process is not None and self._process.poll() is not None:
                self._bury()
                self._start_at = now + pause
            if self.wanted and self._process is None and now >= self._start_at:
                self._start()

    def stop(self, number: int = signal.SIGTERM, *, grace: float = 30.0) -> float:
        """Send a signal, kill what is left after `grace` seconds; returns the seconds it took."""
        self.wanted = False
        began = time.monotonic()
        process = self._process
        if process is not None:
            with suppress(ProcessLookupError):
                process.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(grace)
        with self._lock:
            self._bury()
            self._start_at = 0.0
        return time.monotonic() - began

    def end(self) -> None:
        """Stop the program permanently, within a few seconds."""
        self.stop(grace=10.0)

    def _start(self) -> None:
        owner = {"user": self.user, "group": self.user, "extra_groups": []} if self.user else {}
        with open(self.log, "ab") as log:
            self._process = subprocess.Popen(
                self.command,
                cwd=Path(__file__).resolve().parents[2],
                env=dict(self.environ),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=self.descriptors,
                **owner,  # type: ignore[call-overload]
            )

    def _bury(self) -> None:
        """Kill the rest of the process group, so that no process keeps its port."""
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None


class ProcessManager:
    """A thread that restarts ended programs after a short random pause."""

    def __init__(self, rng: random.Random) -> None:
        self.programs: list[Program] = []
        self._rng = rng
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="process-manager", daemon=True)

    def add(self, *programs: Program) -> None:
        """Start programs and keep them running."""
        for program in programs:
            program.wanted = True
            self.programs.append(program)
        if not self._thread.is_alive():
            self._thread.start()

    def stop_all(self) -> None:
        """End all of the service's programs at once, then its servers."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
        servers = [program for program in self.programs if isinstance(program, PostgresServer | RedisServer)]
        for group in ([program for program in self.programs if program not in servers], servers):
            for pid in [pid for program in group for pid in program.pids()]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
            with ThreadPoolExecutor() as pool:
                list(pool.map(Program.end, group))

    def _run(self) -> None:
        while not self._stop.wait(LOOK_SECONDS):
            for program in list(self.programs):
                program.keep_running(self._rng.uniform(0.3, 2.0))


class PostgresServer(Program):
    """A PostgreSQL server with its own data. It must not run as root, so root starts it as the user postgres."""

    def __init__(self, binaries: Path, home: Path, logs: Path) -> None:
        user = "postgres" if os.getuid() == 0 else None
        self.port = free_port()
        folder = home / "postgres"
        folder.mkdir()
        if user:
            account = pwd.getpwnam(user)
            os.chown(folder, account.pw_uid, account.pw_gid)
        environ = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8"}
        subprocess.run(
            [binaries / "initdb", "-D", folder / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"],
            check=True,
            stdout=subprocess.DEVNULL,
            env=environ,
            cwd=folder,
            **({"user": user, "group": user, "extra_groups": []} if user else {}),  # type: ignore[call-overload]
        )
        # The machine itself never dies here, so the kernel keeps what was written: fsync would only cost time.
        options = {"fsync": "off", "unix_socket_directories": "", "max_connections": "250"}
        command = [str(binaries / "postgres"), "-D", str(folder / "data"), "-h", "127.0.0.1", "-p", str(self.port)]
        command += [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        super().__init__("postgres", command, environ=environ, logs=logs, user=user)

    def end(self) -> None:
        """Stop the server without waiting for its clients."""
        self.stop(signal.SIGINT, grace=10.0)

    @property
    def url(self) -> str:
        """The value for DATABASE_URL."""
        return f"postgres://postgres@127.0.0.1:{self.port}/postgres"

    def answers(self) -> bool:
        """Whether the server accepts connections."""
        try:
            psycopg.connect(self.url, connect_timeout=2).close()
        except psycopg.Error:
            return False
        return True

    def cut_sessions(self, share: float) -> bool:
        """End a share (0 to 1) of the server's sessions in the middle of their work; False when it does not answer."""
        statement = (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND random() < %s"
        )
        with suppress(psycopg.Error), psycopg.connect(self.url, connect_timeout=2) as connection:
            connection.execute(statement, [share])
            return True
        return False


class RedisServer(Program):
    """A Redis server without persistence."""

    def __init__(self, binary: str, home: Path, logs: Path) -> None:
        self.port = free_port()
        command = [binary, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        super().__init__("redis", [*command, "--dir", str(home)], environ=dict(os.environ), logs=logs)

    @property
    def url(self) -> str:
        """The value for REDIS_URL."""
        return f"redis://127.0.0.1:{self.port}/0"

    def answers(self) -> bool:
        """Whether the server answers a ping."""
        try:
            with redis.Redis.from_url(self.url, socket_timeout=2) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False

    def flush(self) -> bool:
        """Delete all data, and with it waiting wake-ups; returns False when the server does not answer."""
        with suppress(redis.RedisError), redis.Redis.from_url(self.url, socket_timeout=2) as client:
            return bool(client.flushall())
        return False


def free_port() -> int:
    """Return a free port of PORTS."""
    while True:
        port = random.choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@contextmanager
def borrowed_database(server: str) -> Iterator[str]:
    """Yield the URL of a new, empty database on the server of this URL; drop it afterwards."""
    name = f"chaos_{os.getpid()}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        try:
            yield urlsplit(server)._replace(path=f"/{name}").geturl()
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def postgres_binaries() -> Path | None:
    """Return the folder of `postgres` and `initdb`; None if there is none, or if root has no user to run them as."""
    if os.getuid() == 0 and not any(account.pw_name == "postgres" for account in pwd.getpwall()):
        return None
    asked = shutil.which("pg_config")
    bin_folder = subprocess.run([asked, "--bindir"], capture_output=True, text=True).stdout.strip() if asked else ""
    folders = [*([Path(bin_folder)] if bin_folder else []), *sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    return next((each for each in folders if (each / "postgres").exists() and (each / "initdb").exists()), None)
