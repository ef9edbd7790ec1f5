"""What `up` makes sure of: that the data directory is its own, that the address is free, that the service answers."""

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

PROBE_SECONDS = 1.0  # bounds each wait for an answer, so that Ctrl-C during the start is heard in time


@contextmanager
def data_dir_lock(data_dir: Path) -> Iterator[None]:
    """Hold `<data_dir>/up.lock`, which carries this process's id; the kernel lets go of it however the process ends.

    Raises CommandError when another process holds it.
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
    """Raise CommandError when nothing can listen on `host`:`port`, saying why."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as listener:
            # As gunicorn binds it: what an earlier run left in TIME_WAIT does not count as taken.
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


def address(host: str, port: int) -> str:
    """`host:port` as URLs and gunicorn write it: IPv6 addresses in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def local_host(host: str) -> str:
    """The address by which this machine reaches a service that listens on `host`."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 (compared, not bound)


def answers(host: str, port: int, path: str, *, host_header: str) -> bool:
    """True when GET `path` on that address answers 200."""
    connection = http.client.HTTPConnection(host, port, timeout=PROBE_SECONDS)
    try:
        connection.request("GET", path, headers={"Host": host_header})
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
