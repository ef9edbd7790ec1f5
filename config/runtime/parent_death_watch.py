"""Runs a command that ends when the process that started it ends, even when that one was killed with SIGKILL.

Called as a plain script, `parent_death_watch.py <parent pid> <command> …`. It asks the kernel for a SIGTERM when the parent
dies, and becomes the command. The request survives exec (prctl(2), PR_SET_PDEATHSIG). Linux only.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


def main(parent: int, command: list[str]) -> None:
    """Tie this process to `parent` and become `command`; ends at once when the parent has already gone."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() == parent:
        os.execv(command[0], command)  # noqa: S606 (the supervisor's own command, no shell)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
