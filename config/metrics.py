"""The service's Prometheus metrics: counters and histograms named `sps_…`, whose labels take only a few values.

All processes of one data directory count into one folder (prometheus_client's multiprocess mode), so each of them serves
the metrics of all. Files of ended processes stay, because counters must not decrease; the first process after a full stop
deletes them when Django starts (`lock_metrics_folder_and_clear_if_unused`). Gauges are read from the database at each
scrape, by config/console/metrics.py.
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
MAX_CODES_PER_PLATFORM = 50  # distinct label values for one platform; further codes count as `other`

REQUESTS = Histogram("sps_request_seconds", "Requests by operation and status.", ("operation", "status"), buckets=_SECONDS)
API_ERRORS = Counter("sps_refusals", "Error answers of the API by code.", ("code",))
PUBLISHING_LATENESS = Histogram(
    "sps_publish_lateness_seconds",
    "Seconds from the due time of a target to its claim by a worker.",
    ("platform",),
    buckets=_LATENESS,
)
PUBLISHING_OUTCOMES = Counter(
    "sps_publish_outcomes",
    "Results of publishing attempts: published, retrying, failed or unconfirmed, with the error code.",
    ("platform", "outcome", "code"),
)
UNKNOWN_PLATFORM_CODES = Counter("sps_platform_unmapped", "Platform answers with an unseen error code.", ("platform", "code"))
DELIVERY_ATTEMPTS = Counter(
    "sps_delivery_attempts", "Results of webhook delivery attempts: delivered, retrying or dead_letter.", ("outcome",)
)
OPERATOR_SIGN_INS = Counter(
    "sps_operator_sign_ins",
    "Sign-ins of operators by password: signed_in, wrong_password, wrong_code, refused (by a limit, without a check).",
    ("outcome",),
)

_codes: dict[str, set[str]] = defaultdict(set)
_lock = threading.Lock()
_folder_lock: IO[str] | None = None


def count_unknown_platform_error_code(platform: str, code: object) -> None:
    """Count a platform's unknown error code in the metrics; malformed codes, or too many, are counted as `other`."""
    text = str(code)
    with _lock:
        seen = _codes[platform]
        if _CODE.fullmatch(text) and (text in seen or len(seen) < MAX_CODES_PER_PLATFORM):
            seen.add(text)
        else:
            text = "other"
    UNKNOWN_PLATFORM_CODES.labels(platform, text).inc()


def lock_metrics_folder_and_clear_if_unused() -> None:
    """Lock the folder in which all processes count metrics; if no other process uses it, delete the old counters in it."""
    global _folder_lock  # the lock lasts as long as its file is open
    FOLDER.mkdir(mode=0o700, exist_ok=True)
    _folder_lock = (FOLDER / "lock").open("w")
    try:
        fcntl.flock(_folder_lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pass
    else:
        for left in FOLDER.glob("*.db"):
            left.unlink()
    fcntl.flock(_folder_lock, fcntl.LOCK_SH)
