"""`manage.py doctor`: it succeeds for a healthy deployment and names each problem with its solution."""

from __future__ import annotations

import socket
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone
from pytest_django import Settings

from config.console import status
from config.jobs.models import Heartbeat
from media import storage
from tests.fakes.clamd import FakeClamd

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _well(settings: Settings, tmp_path: Path) -> None:
    """Set up a healthy embedded deployment with an ADMIN_TOKEN and a live worker."""
    settings.SQLITE = True  # on PostgreSQL a missing Redis is a warning
    settings.MEDIA_ROOT, settings.REDIS_URL, settings.ADMIN_TOKEN = tmp_path, "", "x" * 40
    for duty in (*status.QUEUE_MODELS, status.BEAT):
        status.record_heartbeat(duty)


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def examine() -> tuple[str, str]:
    """Run the command; return its output and its error."""
    output = StringIO()
    try:
        call_command("doctor", stdout=output, no_color=True)
    except CommandError as error:
        return output.getvalue(), str(error)
    return output.getvalue(), ""


def faults() -> list[list[str]]:
    """Return [level, part] of each finding that is not OK."""
    lines = [line.split(None, 2)[:2] for line in examine()[0].splitlines()]
    return [line for line in lines if line and line[0] in ("fault", "warning")]


def test_a_healthy_deployment_passes_and_no_test_data_remains() -> None:
    output, error = examine()

    assert (error, faults()) == ("", [])
    for what in ("database", "migrations", "clock", "broker", "worker", "beat", "scanner", "storage", "e-mail"):
        assert f"ok       {what}" in output
    assert list(storage.all_storage_keys()) == []


def no_worker(settings: Any) -> None:
    Heartbeat.objects.filter(duty="publish").update(beat_at=timezone.now() - timedelta(minutes=1))


def no_beat(settings: Any) -> None:
    Heartbeat.objects.filter(duty=status.BEAT).delete()


def no_migration(settings: Any) -> None:
    MigrationRecorder.Migration.objects.filter(app="site").delete()


def no_broker(settings: Any) -> None:
    settings.REDIS_URL = f"redis://127.0.0.1:{closed_port()}/0"


def no_scanner(settings: Any) -> None:
    settings.MEDIA_SCANNER, settings.CLAMAV_ADDRESS = "clamav", f"127.0.0.1:{closed_port()}"


def no_storage(settings: Any) -> None:
    (Path(settings.MEDIA_ROOT) / "file").write_text("no folder")
    settings.MEDIA_ROOT = Path(settings.MEDIA_ROOT) / "file"


def no_mail(settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", closed_port()


def no_provider(settings: Any) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK, settings.OIDC_ISSUER = True, f"http://127.0.0.1:{closed_port()}"


def half_a_platform(settings: Any) -> None:
    settings.PLATFORM_SETTINGS = {"X_CLIENT_ID": "an-id"}


def half_a_second_application(settings: Any) -> None:
    settings.PLATFORM_SETTINGS = {
        "LINKEDIN_CLIENT_ID": "an-id",
        "LINKEDIN_CLIENT_SECRET": "a-secret",
        "LINKEDIN_PAGES_CLIENT_SECRET": "a-secret",
    }


def half_a_processor(settings: Any) -> None:
    settings.STRIPE_SECRET_KEY, settings.STRIPE_PRICES = "sk_test", {"payg": "price_1", "pro": "", "scale": ""}


def bad_key(settings: Any) -> None:
    settings.ENCRYPTION_KEYS = ["no key"]


@pytest.mark.parametrize(
    ("spoil", "what", "todo"),
    [
        (no_worker, "worker", "celery -A config.celery worker"),
        (no_beat, "beat", "check that the broker answers"),
        (no_migration, "migrations", "manage.py migrate"),
        (no_broker, "broker", "REDIS_URL"),
        (no_scanner, "scanner", "clamd.conf"),
        (no_storage, "storage", "STORAGE_URL"),
        (no_mail, "e-mail", "EMAIL_URL"),
        (no_provider, "identity", "OIDC_ISSUER"),
        (half_a_platform, "X", "X_CLIENT_SECRET"),
        (half_a_second_application, "LinkedIn", "LINKEDIN_PAGES_CLIENT_ID"),
        (half_a_processor, "payments", "Set the endpoint's secret"),
        (bad_key, "settings", "then restart"),
    ],
)
def test_only_the_faulty_part_is_reported_with_its_solution(
    settings: Settings, spoil: Callable[[Any], None], what: str, todo: str
) -> None:
    spoil(settings)
    output, error = examine()

    assert {line[1] for line in faults()} == {what}
    assert todo in output
    assert "what to do" in error


def test_a_scanner_with_sufficient_limits_is_ok(settings: Settings) -> None:
    with FakeClamd() as clamd:
        settings.MEDIA_SCANNER, settings.CLAMAV_ADDRESS = "clamav", clamd.address
        settings.MEDIA_MAX_BYTES = {"image": 1024 * 1024}

        assert "scans the largest upload completely" in examine()[0]
