"""What the service counts, for Prometheus. All names begin with `sps_`; labels take few values, none that a caller chooses.

All processes of one data directory count into one folder (prometheus_client's multiprocess mode), so whichever is asked
tells of all of them, the workers too. Files of processes that have ended stay, since a counter never goes back; the first
process after a full stop clears them away. What rows can tell is not counted here but read when it is asked for
(config/console/metrics.py).
"""

from __future__ import annotations

import fcntl
import re
import threading
from collections import defaultdict
from pathlib import Path
from typing import IO

from django.conf import settings
from prometheus_client import Counter, Histogram

FOLDER = Path(settings.DATA_DIR) / "metrics"
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_LATENESS = (0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1800, 7200)
_CODE = re.compile(r"[A-Za-z0-9_.:/ -]{1,60}")
MOST_CODES = 50  # of one platform that are told apart; the log has all of them

REQUESTS = Histogram(
    "sps_request_seconds", "Requests by operation and status.", ("operation", "status"), buckets=_SECONDS
)
REFUSALS = Counter("sps_refusals", "Answers of the API that were an error, by its code.", ("code",))
LATENESS = Histogram(
    "sps_publish_lateness_seconds",
    "From the time that a target was due to the moment that a worker took it up.",
    ("platform",),
    buckets=_LATENESS,
)
OUTCOMES = Counter(
    "sps_publish_outcomes",
    "What attempts at targets came to: published, retrying, failed or unconfirmed, with the error's code.",
    ("platform", "outcome", "code"),
)
UNMAPPED = Counter(
    "sps_platform_unmapped", "Answers of platforms whose code has no meaning here.", ("platform", "code")
)
DELIVERIES = Counter(
    "sps_delivery_attempts", "What attempts at deliveries came to: delivered, retrying or dead_letter.", ("outcome",)
)
OPERATOR_SIGN_INS = Counter(
    "sps_operator_sign_ins",
    "Sign-ins of operators by password: signed_in, wrong_password, wrong_code, refused (by a limit, without a check).",
    ("outcome",),
)

_codes: dict[str, set[str]] = defaultdict(set)
_lock = threading.Lock()


def count_unmapped(platform: str, code: object) -> None:
    """Count a platform's answer that no table of ours knows; a code in an odd form, or one too many, counts as `other`."""
    text = str(code)
    with _lock:
        known = _codes[platform]
        if _CODE.fullmatch(text) and (text in known or len(known) < MOST_CODES):
            known.add(text)
        else:
            text = "other"
    UNMAPPED.labels(platform, text).inc()


def _hold(directory: Path) -> IO[str]:
    """A shared lock on the folder for as long as this process lives; who finds nobody there empties it first."""
    directory.mkdir(mode=0o700, exist_ok=True)
    file = (directory / "lock").open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pass
    else:
        for left in directory.glob("*.db"):
            left.unlink()
    fcntl.flock(file, fcntl.LOCK_SH)
    return file


_held = _hold(FOLDER)
