"""`manage.py up`: runs the whole service (web and worker processes) on one machine."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError, connections

from config.checks import SETTINGS_TAG
from config.jobs.models import Heartbeat
from config.runtime.demo import DemoWorkspace, create_or_find_demo_workspace_or_none, print_welcome
from config.runtime.startup import (
    check_address_free,
    host_to_connect_to,
    is_service_answering,
    join_host_and_port,
    lock_data_dir,
)
from config.runtime.supervisor import Child, Supervisor

READY_SECONDS = 60


class Command(BaseCommand):
    """The command `manage.py up`: updates the database tables, then runs web and worker until SIGINT or SIGTERM."""

    requires_system_checks = [SETTINGS_TAG]  # the other checks load all views, which this process does not need
    help = "Migrates the database, then runs the web and worker processes until Ctrl-C."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
        parser.add_argument("--port", default=8000, type=_port, help="port to listen on (default: %(default)s)")
        parser.add_argument("--data-dir", type=Path, help="folder for database, files and secrets (default: DATA_DIR)")

    def handle(self, *args: Any, host: str, port: int, data_dir: Path | None, **options: Any) -> None:
        _use_data_dir(data_dir)
        with lock_data_dir(settings.DATA_DIR):
            check_address_free(host, port)
            base_url = _prepare_environment(host, port)
            supervisor = Supervisor(_children(host, port))
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, supervisor.stop_or_kill_if_repeated)
            demo = self._prepare_database(base_url)
            try:
                self._run(supervisor, demo, host=host_to_connect_to(host), port=port, base_url=base_url)
            finally:
                supervisor.stop()
        self._say("Stopped.")

    def _prepare_database(self, base_url: str) -> DemoWorkspace | None:
        self._say("Migrating the database …")
        try:
            call_command("migrate", interactive=False, verbosity=0)
            Heartbeat.objects.all().delete()  # heartbeats of an earlier run would make this one ready too early
            return None if settings.PRODUCTION else create_or_find_demo_workspace_or_none(base_url=base_url)
        except OperationalError as error:
            raise CommandError(f"The database is not available: {error}") from error
        finally:
            connections.close_all()

    def _run(self, supervisor: Supervisor, demo: DemoWorkspace | None, *, host: str, port: int, base_url: str) -> None:
        """Start the web and worker processes, print the welcome text once both are ready, and run until asked to stop."""

        def ready() -> bool:
            own_host = urlsplit(base_url).netloc
            return all(is_service_answering(host, port, path, host_header=own_host) for path in ("/healthz", "/readyz"))

        self._say("Starting web and worker …")
        if not supervisor.keep_children_running(until=ready, timeout=READY_SECONDS) and not supervisor.is_stopping:
            self.stderr.write(f"Not ready after {READY_SECONDS} s; see the log above. Still trying.")
            supervisor.keep_children_running(until=ready)
        if not supervisor.is_stopping:
            print_welcome(self.stdout, demo, base_url=base_url, data_dir=settings.DATA_DIR)
        supervisor.keep_children_running()

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def _port(text: str) -> int:
    if text.isdecimal() and 1 <= int(text) <= 65535:
        return int(text)
    raise argparse.ArgumentTypeError("a port is a number from 1 to 65535")


def _use_data_dir(data_dir: Path | None) -> None:
    """Restart `manage.py up` with the environment variable DATA_DIR if `--data-dir` names another folder."""
    if data_dir is not None and data_dir.resolve() != settings.DATA_DIR:
        os.environ["DATA_DIR"] = str(data_dir.resolve())
        os.execv(sys.executable, [sys.executable, *sys.argv])  # noqa: S606 (this same command, no shell)


def _prepare_environment(host: str, port: int) -> str:
    """Set the environment variables for the processes of `manage.py up`; return the service's base URL.

    Everything runs in the project's folder, where `-m` finds its modules and relative paths are the same for all.
    """
    os.chdir(settings.BASE_DIR)
    os.environ["DATA_DIR"] = str(settings.DATA_DIR)
    if settings.PRODUCTION:
        return settings.BASE_URL
    base_url = os.environ.get("BASE_URL") or f"http://{join_host_and_port(host_to_connect_to(host), port)}"
    os.environ["BASE_URL"] = base_url
    return base_url.rstrip("/")


def _children(host: str, port: int) -> list[Child]:
    """Return the child processes of `manage.py up`: the web process, and the worker that also runs the beat."""
    gunicorn = [sys.executable, "-m", "gunicorn", "config.wsgi:application", "-c", "python:config.gunicorn"]
    web_processes = 1 if settings.EMBEDDED else 2  # without Redis one process must count all rate limits
    celery = [sys.executable, "-m", "celery", "-A", "config.celery", "-q", "worker"]
    return [
        Child("web", [*gunicorn, "--bind", join_host_and_port(host, port), "--workers", str(web_processes)]),
        Child("worker", [*celery, "-P", "threads", "-c", "8", "--loglevel", "INFO"]),
    ]
