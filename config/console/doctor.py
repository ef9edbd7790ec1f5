"""The checks that `manage.py doctor` runs, each a function: settings, database, workers, storage, e-mail and other parts."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import redis
from django.conf import settings
from django.core import checks
from django.core.mail import get_connection
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from accounts.platforms.registry import all_adapters
from billing.subscription_plans import has_payment_processor, offered_subscription_plans
from config.checks import check_settings
from config.console import status
from config.db.clock import MAX_CLOCK_SKEW, database_time
from media import storage
from workspaces.services import is_sign_in_by_email_offered
from workspaces.sign_in.provider import OpenIdProvider

CHECK_SECONDS = 5.0
MIN_FREE_BYTES = 1024**3
_APPLICATION_SUFFIXES = ("_CLIENT_ID", "_CLIENT_SECRET")
OLDEST_POSTGRESQL = 140_000  # what Django 5.2 asks for


class FindingLevel(StrEnum):
    """How serious the finding of a doctor check is; a fault makes the command `manage.py doctor` fail."""

    OK = "ok"
    WARNING = "warning"
    FAULT = "fault"


@dataclass(frozen=True)
class Finding:
    """The finding of one doctor check; `todo` tells the operator what to do, or is empty."""

    level: FindingLevel
    what: str
    found: str
    todo: str = ""


def _ok_if(condition: bool, what: str, found: str, todo: str, *, otherwise: FindingLevel = FindingLevel.FAULT) -> Finding:
    """Return the finding of a doctor check: OK if `condition` is true, else the level `otherwise` and the advice `todo`."""
    return Finding(FindingLevel.OK, what, found) if condition else Finding(otherwise, what, found, todo)


def run_doctor_checks() -> Iterator[Finding]:
    """Run all doctor checks and yield their findings; a check that raises an exception counts as a fault."""
    for name, check in CHECKS.items():
        try:
            yield from check(name)
        except Exception as error:  # whatever the database driver, broker or storage raises
            yield Finding(
                FindingLevel.FAULT, name, f"{type(error).__name__}: {str(error).strip()[:200]}", _TODO.get(name, "")
            )


def _settings(name: str) -> Iterator[Finding]:
    """Doctor's check of the settings: report invalid ones, except the malware scanner's, and a missing ADMIN_TOKEN."""
    problems = check_settings(None)
    if settings.PRODUCTION:
        problems += [each for each in checks.run_checks(include_deployment_checks=True) if each not in problems]
    for problem in problems:
        if not problem.id or not problem.id.startswith("media."):
            level = FindingLevel.FAULT if problem.level >= checks.ERROR else FindingLevel.WARNING
            yield Finding(level, name, str(problem.msg), problem.hint or "Correct the setting, then restart.")
    if not problems:
        yield Finding(FindingLevel.OK, name, f"valid for {settings.ENVIRONMENT}")
    if not settings.ADMIN_TOKEN:
        yield Finding(FindingLevel.WARNING, name, "no ADMIN_TOKEN: /ops and /metrics are closed", "openssl rand -hex 32")


def _data_directory(name: str) -> Iterator[Finding]:
    with tempfile.TemporaryFile(dir=settings.DATA_DIR):
        free = shutil.disk_usage(settings.DATA_DIR).free
    free_space = f"{settings.DATA_DIR}, {free / 1024**3:.1f} GiB free"
    todo = "Free disk space: uploads are stored there until they are checked."
    yield _ok_if(free >= MIN_FREE_BYTES, name, free_space, todo, otherwise=FindingLevel.WARNING)


def _database(name: str) -> Iterator[Finding]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    if connection.vendor != "postgresql":
        version = ".".join(map(str, connection.get_database_version()))
        yield Finding(FindingLevel.OK, name, f"SQLite {version}: for one machine only")
        return
    installed: int = connection.pg_version  # type: ignore[attr-defined]
    if installed < OLDEST_POSTGRESQL:
        yield Finding(FindingLevel.FAULT, name, f"PostgreSQL {installed}", "Upgrade to PostgreSQL 14 or newer.")
    else:
        yield Finding(FindingLevel.OK, name, f"PostgreSQL {installed // 10_000}")


def _migrations(name: str) -> Iterator[Finding]:
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if missing:
        first = ", ".join(f"{migration.app_label}.{migration.name}" for migration, _ in missing[:3])
        yield Finding(FindingLevel.FAULT, name, f"{len(missing)} not applied: {first}", "manage.py migrate")
    else:
        yield Finding(FindingLevel.OK, name, "all applied")


def _clock(name: str) -> Iterator[Finding]:
    off = abs(timezone.now() - database_time())
    difference = f"{off.total_seconds():.1f} s off the database's"
    todo = "Synchronize this machine's clock by NTP: its workers do no work until then."
    yield _ok_if(off <= MAX_CLOCK_SKEW, name, difference, todo)


def _broker(name: str) -> Iterator[Finding]:
    if not settings.REDIS_URL:
        todo = "Set REDIS_URL: each web process counts its own rate limits without it."
        found = "none: workers poll four times a second"
        yield _ok_if(settings.SQLITE, name, found, todo, otherwise=FindingLevel.WARNING)
        return
    client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=CHECK_SECONDS, socket_connect_timeout=CHECK_SECONDS)
    version = client.info("server")["redis_version"]
    yield Finding(FindingLevel.OK, name, f"Redis {version}")


def _heartbeats(name: str) -> Iterator[Finding]:
    now, beats = timezone.now(), status.last_heartbeats_by_name()
    silent = [queue for queue in status.QUEUE_MODELS if not status.is_heartbeat_recent(beats.get(queue), now)]
    if silent:
        yield Finding(FindingLevel.FAULT, name, f"no worker runs: {', '.join(silent)}", f"Start a worker: {WORKER_COMMAND}")
    else:
        yield Finding(FindingLevel.OK, name, "workers run all queues")
    if status.is_heartbeat_recent(beats.get(status.BEAT), now, status.BEAT_ALIVE_WITHIN):
        yield Finding(FindingLevel.OK, "beat", "active within the last three minutes")
    else:
        todo = "Start a worker, which runs a beat; with Redis check that the broker answers."
        yield Finding(FindingLevel.FAULT, "beat", "not active for three minutes", todo)


def _scanner(name: str) -> Iterator[Finding]:
    if settings.MEDIA_SCANNER == "none":
        yield Finding(FindingLevel.OK, name, "none: uploads are marked not_scanned")
        return
    problems = checks.run_checks(tags=["outside"], include_deployment_checks=True)
    yield from (Finding(FindingLevel.FAULT, name, str(each.msg), each.hint or "") for each in problems)
    if not problems:
        yield Finding(FindingLevel.OK, name, f"clamd at {settings.CLAMAV_ADDRESS} scans the largest upload completely")


def _storage(name: str) -> Iterator[Finding]:
    """Doctor's check of the media storage: write, read and delete a small file."""
    content = secrets.token_bytes(32)
    with tempfile.NamedTemporaryFile(dir=settings.DATA_DIR) as file:
        file.write(content)
        file.flush()
        key = storage.new_storage_key(workspace_id="doctor", sha256=secrets.token_hex(32), suffix=".bin")
        storage.store_file(Path(file.name), key)
    try:
        with storage.open_file(key) as stored:
            same = stored.read() == content
    finally:
        storage.remove_file(key)
    if same:
        yield Finding(FindingLevel.OK, name, "written, read and removed")
    else:
        yield Finding(FindingLevel.FAULT, name, "the file read back differs from the file written", _TODO[name])


def _platforms(name: str) -> Iterator[Finding]:
    for platform in all_adapters():
        if "oauth" not in platform.methods:
            continue
        reason = platform.unavailable_reason("oauth")
        halves = _incomplete_applications(platform.name)
        for given, missing in halves:
            yield Finding(FindingLevel.FAULT, platform.label, f"{given} without {missing}", "Set both, or neither.")
        if reason is None:
            yield Finding(FindingLevel.OK, platform.label, "accounts can be connected")
        elif not halves:
            yield Finding(FindingLevel.OK, platform.label, f"not offered: {reason}")


def _incomplete_applications(platform_name: str) -> list[tuple[str, str]]:
    """Return (set, missing) for each CLIENT_ID or CLIENT_SECRET of a platform that is set without the other, for doctor."""
    given = {name for name, value in settings.PLATFORM_SETTINGS.items() if value}
    ours = (name for name in given if name.startswith(f"{platform_name.upper()}_") and name.endswith(_APPLICATION_SUFFIXES))
    applications = sorted({name.rpartition("_CLIENT_")[0] for name in ours})
    pairs = [(f"{each}_CLIENT_ID", f"{each}_CLIENT_SECRET") for each in applications]
    return [pair if pair[0] in given else pair[::-1] for pair in pairs if not given.issuperset(pair)]


def _payments(name: str) -> Iterator[Finding]:
    if not has_payment_processor():
        yield Finding(FindingLevel.OK, name, "free beta: no STRIPE_SECRET_KEY")
        return
    if not settings.STRIPE_WEBHOOK_SECRET:
        yield Finding(
            FindingLevel.FAULT,
            name,
            "no STRIPE_WEBHOOK_SECRET",
            "Set the endpoint's secret; without it no event is accepted.",
        )
    if not offered_subscription_plans():
        yield Finding(FindingLevel.FAULT, name, "no plan has a price", "Set STRIPE_PRICE_PAYG or another price.")
    else:
        yield Finding(FindingLevel.OK, name, f"plans: {', '.join(offered_subscription_plans())}")


def _mail(name: str) -> Iterator[Finding]:
    backend = settings.EMAIL_BACKEND.rpartition(".")[0].rpartition(".")[2]
    if backend != "smtp":
        found = f"{backend}: nothing is sent"
        yield _ok_if(not settings.PRODUCTION, name, found, "Set EMAIL_URL.", otherwise=FindingLevel.WARNING)
        return
    with get_connection(timeout=CHECK_SECONDS):
        yield Finding(FindingLevel.OK, name, f"{settings.EMAIL_HOST} accepts mail")


def _identity(name: str) -> Iterator[Finding]:
    if not settings.OIDC_ISSUER:
        by_email = is_sign_in_by_email_offered()
        found = "no provider: " + ("people sign in by a link in an e-mail" if by_email else "only operators can sign in")
        todo = "Set OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET, or EMAIL_URL."
        yield _ok_if(by_email or not settings.PRODUCTION, name, found, todo, otherwise=FindingLevel.WARNING)
        return
    document = OpenIdProvider(settings.OIDC_ISSUER).discovery_document
    yield Finding(FindingLevel.OK, name, f"{document['issuer']} answers")
    for key in ("OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET", "OIDC_AUDIENCE"):
        if not getattr(settings, key):
            yield Finding(
                FindingLevel.WARNING, name, f"no {key}", "The dashboard needs the client, the API needs the audience."
            )


WORKER_COMMAND = "celery -A config.celery worker -P threads"
CHECKS: dict[str, Callable[[str], Iterator[Finding]]] = {
    "settings": _settings,
    "data directory": _data_directory,
    "database": _database,
    "migrations": _migrations,
    "clock": _clock,
    "broker": _broker,
    "worker": _heartbeats,
    "scanner": _scanner,
    "storage": _storage,
    "platforms": _platforms,
    "payments": _payments,
    "e-mail": _mail,
    "identity": _identity,
}
_TODO = {
    "data directory": "Make DATA_DIR writable for the service's user.",
    "database": "Check DATABASE_URL, and that the server accepts connections from here.",
    "migrations": "Fix the database first.",
    "clock": "Fix the database first.",
    "broker": "Check REDIS_URL. Posts are still published meanwhile, because workers poll.",
    "worker": "Fix the database first.",
    "storage": "Check STORAGE_URL, its keys, and their permissions in the bucket. Uploads get 503 meanwhile.",
    "e-mail": "Check EMAIL_URL. Messages wait and are retried.",
    "identity": "Check OIDC_ISSUER, and that this machine reaches it. Nobody can sign in meanwhile.",
}
