"""Programs that read strangers' files: within bounds of time and memory."""

from __future__ import annotations

import subprocess
import sys
from typing import IO

# Limits are set by a process of its own between us and the program: preexec_fn may deadlock in a process with threads.
# RLIMIT_DATA counts what it writes to, not the libraries that it maps. Linux; elsewhere the limit on time remains.
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
    """Run `call`, whose first word is an absolute path, and keep its output; `memory` is in bytes.

    Raises TimeoutExpired after so many seconds.
    """
    return subprocess.run(  # noqa: S603
        [sys.executable, "-I", "-S", "-c", _LIMITED, str(seconds), str(memory), *call],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=seconds,
        check=False,
    )
