"""Runs external programs, such as ffprobe, on untrusted files with limits on time and memory."""

from __future__ import annotations

import subprocess
import sys
from typing import IO

# A separate process sets the limits and then starts the program: preexec_fn may deadlock in a process with threads.
# RLIMIT_DATA counts writable memory, not mapped libraries. It works on Linux; other systems only have the time limit.
_LIMITED = """
import os, resource, sys
seconds, memory = int(sys.argv[1]), int(sys.argv[2])
for limit, value in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_DATA, memory), (resource.RLIMIT_CORE, 0)):
    resource.setrlimit(limit, (value, value))
os.execv(sys.argv[3], sys.argv[3:])
"""


def run_bounded(
    call: list[str], *, seconds: int, memory: int, stdin: IO[bytes] | int = subprocess.DEVNULL
) -> subprocess.CompletedProcess[bytes]:
    """Run an external program with limits on time and memory (in bytes), and capture its standard output.

    The first item of `call` is an absolute path. Raises TimeoutExpired after `seconds`.
    """
    return subprocess.run(  # noqa: S603
        [sys.executable, "-I", "-S", "-c", _LIMITED, str(seconds), str(memory), *call],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=seconds,
        check=False,
    )
