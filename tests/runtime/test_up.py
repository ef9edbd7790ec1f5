"""`manage.py up`: its option checks, and starting and stopping the whole service."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.core.management.base import CommandError

from config.runtime.startup import check_address_free, host_to_connect_to, join_host_and_port, lock_data_dir

READY_SECONDS = 60
STOP_SECONDS = 10


def test_the_data_dir_is_locked_for_one_process(tmp_path: Path) -> None:
    with lock_data_dir(tmp_path):
        assert (tmp_path / "up.lock").read_text() == f"{os.getpid()}\n"
        with pytest.raises(CommandError) as refused, lock_data_dir(tmp_path):
            pass

    assert str(refused.value) == (
        f"{tmp_path} is in use by another `manage.py up` (process {os.getpid()}). Stop that one, or pass another --data-dir."
    )


def test_the_data_dir_is_free_again_after_the_lock(tmp_path: Path) -> None:
    with lock_data_dir(tmp_path):
        pass
    with lock_data_dir(tmp_path):
        assert (tmp_path / "up.lock").read_text() == f"{os.getpid()}\n"


def test_a_port_in_use_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CommandError) as refused:
            check_address_free("127.0.0.1", port)

    assert str(refused.value) == (
        f"Port {port} on 127.0.0.1 is taken by another program. Stop that one, or pass another --port."
    )


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(CommandError, match=r"^Cannot listen on 192\.0\.2\.1, port 8000 \(.+\)\. Pass another --host"):
        check_address_free("192.0.2.1", 8000)


@pytest.mark.parametrize(
    ("host", "reached_at"),
    [
        ("127.0.0.1", "127.0.0.1:80"),
        ("localhost", "localhost:80"),
        ("0.0.0.0", "127.0.0.1:80"),  # noqa: S104 (nothing is bound)
        ("::", "[::1]:80"),
    ],
)
def test_a_wildcard_address_is_reached_through_loopback(host: str, reached_at: str) -> None:
    assert join_host_and_port(host_to_connect_to(host), 80) == reached_at


@dataclass
class Service:
    """A running `manage.py up`: its process, its options and the curl command that it printed."""

    process: subprocess.Popen[str]
    port: int
    data_dir: Path
    environ: dict[str, str]
    first_post: str


def manage(*arguments: str) -> list[str]:
    return [sys.executable, str(settings.BASE_DIR / "manage.py"), *arguments]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """Start `manage.py up` with its own data directory and port; kill it after the test."""
    data_dir = tmp_path / "var"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    environ = {name: value for name, value in os.environ.items() if name != "BASE_URL"} | {
        "ENVIRONMENT": "development",
        "DATABASE_URL": f"sqlite:///{tmp_path / 'service.sqlite3'}",
        "REDIS_URL": "",
        "OUTBOUND_ALLOW_LOOPBACK": "true",  # as `make run` has it
    }
    command = manage("up", "--port", str(port), "--data-dir", str(data_dir))
    with open(tmp_path / "log", "w") as log:
        process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=log, text=True)
    watchdog = threading.Timer(READY_SECONDS, process.kill)
    watchdog.start()
    assert process.stdout is not None
    first_post = next((line for line in process.stdout if line.startswith("  curl ")), "")
    watchdog.cancel()
    assert first_post, (tmp_path / "log").read_text()
    yield Service(process, port, data_dir, environ, first_post)
    process.kill()
    process.wait()
    process.stdout.close()


def fetch(url: str, method: str = "GET", body: str | None = None, headers: dict[str, str] | None = None) -> Any:
    """Return the JSON answer of `url`, whatever its status."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=READY_SECONDS)
    connection.request(method, parts.path, body, headers or {})
    answer = json.loads(connection.getresponse().read())
    connection.close()
    return answer


def curl_arguments(line: str) -> list[str]:
    """Return the arguments that a shell passes to curl for the command."""
    script = f"""curl() {{ printf '%s\\n' "$@"; }}\n{line}"""
    return subprocess.run(["/bin/sh", "-c", script], check=True, capture_output=True, text=True).stdout.splitlines()


def tour() -> str:
    """Return the commands of the README's tour, up to the one that needs a platform account."""
    readme = (settings.BASE_DIR / "README.md").read_text()
    part = readme.partition("## A tour in five minutes")[2].partition("**Publish on Bluesky.**")[0]
    return "\n".join(re.findall(r"```sh\n(.*?)```", part, re.DOTALL))


def test_up_starts_the_service_of_the_readmes_tour_and_stops_it(service: Service) -> None:
    """One service for all of it, because its processes take many seconds to start."""
    assert fetch(f"http://127.0.0.1:{service.port}/openapi.json")["openapi"] == "3.1.0"
    assert_the_printed_command_publishes(service)
    assert_a_second_service_is_refused(service)
    has_tools = shutil.which("curl") and shutil.which("openssl")
    if has_tools:
        assert_the_commands_of_the_tour_work(service)

    service.process.send_signal(signal.SIGINT)
    assert service.process.wait(STOP_SECONDS) == 0
    # All that it started inherited its output: reading ends once the last of them has ended.
    assert service.process.stdout is not None
    assert service.process.stdout.read().endswith("Stopped.\n")
    if not has_tools:
        pytest.skip("there is no curl, or no openssl: all but the tour was tested")


def assert_the_printed_command_publishes(service: Service) -> None:
    _, url, _, authorization, _, content_type, _, body = curl_arguments(service.first_post)
    headers = dict(header.split(": ", 1) for header in (authorization, content_type))
    posted = fetch(url, "POST", body, headers)
    assert posted["post_group"]["status"] == "published", posted


def assert_a_second_service_is_refused(service: Service) -> None:
    environ = service.environ | {"DATA_DIR": str(service.data_dir)}
    second = subprocess.run(manage("up", "--port", str(service.port)), env=environ, capture_output=True, text=True)
    assert second.returncode == 1
    assert second.stderr == (
        f"CommandError: {service.data_dir} is in use by another `manage.py up` (process {service.process.pid}). "
        "Stop that one, or pass another --data-dir.\n"
    )


def assert_the_commands_of_the_tour_work(service: Service) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        receiver = str(listener.getsockname()[1])
    environ = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}

    command = ["/bin/bash", "-c", tour().replace("9000", receiver)]
    folder = service.data_dir.parent
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=120)

    assert "not there after" not in done.stdout
    assert "UNAUTHENTICATED" not in done.stdout
    signature = re.search(r"^t=[0-9]+,v1=([0-9a-f]{64})", done.stdout, re.MULTILINE)
    computed = re.search(r"stdin\)= ([0-9a-f]{64})$", done.stdout, re.MULTILINE)
    assert signature, done.stdout + done.stderr
    assert computed, done.stdout + done.stderr
    assert signature[1] == computed[1]
