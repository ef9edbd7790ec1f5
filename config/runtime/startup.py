"""Checks at the start of `manage.py up`: the data directory is not in use, the port is free, the service responds."""

from __future__ import annotations

import errno
import fcntl
import http.client
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.core.management.base import CommandError

PROBE_SECONDS = 1.0  # short, so that Ctrl-C during the start takes effect soon


@contextmanager
def lock_data_dir(data_dir: Path) -> Iterator[None]:
    """Startup check: lock `<data_dir>/up.lock` in a `with` block, so that only one `manage.py up` uses the directory.

    Raises CommandError when another process has locked it.
    """
    with open(data_dir / "up.lock", "a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise CommandError(
                f"{data_dir} is in use by another `manage.py up` (process {file.read().strip()}). "
                "Stop that one, or pass another --data-dir."
            ) from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


def check_address_free(host: str, port: int) -> None:
    """Raise CommandError with the reason if `manage.py up` cannot listen on `host`:`port`."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as listener:
            # As gunicorn does: connections of an earlier run in TIME_WAIT do not block the port.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise CommandError(
                f"Port {port} on {host} is taken by another program. Stop that one, or pass another --port."
            ) from None
        raise CommandError(
            f"Cannot listen on {host}, port {port} ({error.strerror}). Pass another --host or --port."
        ) from None


def join_host_and_port(host: str, port: int) -> str:
    """Return `host:port` for the start of `manage.py up`, in URLs and for gunicorn; an IPv6 address gets brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def host_to_connect_to(host: str) -> str:
    """Return the host to which the startup check connects: `host`, or loopback if `host` means all addresses."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 (compared, not bound)


def is_service_answering(host: str, port: int, path: str, *, host_header: str) -> bool:
    """Startup check: return whether the service responds to GET `path` with status 200."""
    connection = http.client.HTTPConnection(host, port, timeout=PROBE_SECONDS)
    try:
        connection.request("GET", path, headers={"Host": host_header})
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
