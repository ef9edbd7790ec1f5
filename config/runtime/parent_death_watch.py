"""Runs a command that ends when its parent process ends, even if the parent was killed by SIGKILL.

Usage: `parent_death_watch.py <parent pid> <command> …`. The script asks the kernel for a SIGTERM when the parent dies
(prctl(2), PR_SET_PDEATHSIG, which survives exec) and then executes the command. Linux only.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


def main(parent: int, command: list[str]) -> None:
    """Execute `command` so that it ends when the process `parent` ends; exit at once if that has already ended."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() == parent:
        os.execv(command[0], command)  # noqa: S606 (the supervisor's own command, no shell)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
