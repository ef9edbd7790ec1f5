"""The system check of settings: production does not start with invalid settings and reports them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.conf import settings as configured
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from config.checks import check_settings, require_valid_settings

KEY = Fernet.generate_key().decode()
FIT = {
    "ENVIRONMENT": "production",
    "PRODUCTION": True,
    "DEBUG": False,
    "OUTBOUND_ALLOW_LOOPBACK": False,
    "SECRET_KEY": "s" * 32,
    "ENCRYPTION_KEYS": [KEY, Fernet.generate_key().decode()],
    "ALLOWED_HOSTS": ["posts.example.com"],
    "BASE_URL": "https://posts.example.com",
    "MEDIA_SCANNER": "clamav",
}


def apply(settings: Settings, **changes: Any) -> list[str]:
    """Return the check's messages for valid production settings with these changes."""
    for name, value in {**FIT, **changes}.items():
        setattr(settings, name, value)
    return [str(problem.msg) for problem in check_settings(None)]


def manage(tmp_path: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a manage.py command with only this environment."""
    return subprocess.run(
        [sys.executable, *command],
        cwd=configured.BASE_DIR,
        env={"PATH": os.environ["PATH"], "DATA_DIR": str(tmp_path), **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_valid_production_settings_have_no_errors(settings: Settings) -> None:
    assert apply(settings) == []
    require_valid_settings()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FFPROBE", "ffprobe"),
        ("FFPROBE", "/nowhere/ffprobe"),
        ("FFPROBE", "/etc/passwd"),
        ("FFMPEG", "ffmpeg"),
        ("STRIPE_API_BASE", "http://stripe.example"),
        ("STRIPE_API_BASE", "http://127.0.0.1:12111"),
        ("DEBUG", True),
        ("OUTBOUND_ALLOW_LOOPBACK", True),
        ("SECRET_KEY", ""),
        ("SECRET_KEY", "s" * 31),
        ("ENCRYPTION_KEYS", []),
        ("ENCRYPTION_KEYS", [KEY, "no key"]),
        ("ENCRYPTION_KEYS", [KEY[:-4]]),
        ("ALLOWED_HOSTS", []),
        ("ALLOWED_HOSTS", ["posts.example.com", "*"]),
        ("BASE_URL", "http://posts.example.com"),
        ("BASE_URL", ""),
        ("MEDIA_SCANNER", "none"),
        ("MEDIA_SCANNER", "guess"),
        ("OIDC_ISSUER", "http://login.example.com"),
        ("OIDC_ISSUER", "login.example.com"),
        ("OIDC_CLIENT_ID", "without-its-secret"),
        ("OIDC_STAFF_CLAIM", "operators"),
        ("OIDC_REQUIRED_SCOPE", "posts media"),
        ("API_KEY_DEFAULT_DAYS", 0),
        ("API_KEY_DEFAULT_DAYS", 36_501),
        ("ENVIRONMENT", "prod"),
        ("OUTBOUND_NAMESERVERS", ["dns.example.com"]),
        ("OUTBOUND_NAMESERVERS", ["10.0.0.2", "10.0.0.3:99999"]),
        ("OUTBOUND_NAMESERVERS", ["10.0.0.2/53"]),
    ],
)
def test_each_invalid_setting_is_one_error(settings: Settings, name: str, value: Any) -> None:
    problems = apply(settings, **{name: value})

    assert len(problems) == 1
    assert problems[0].startswith(name)
    with pytest.raises(ImproperlyConfigured, match=name):
        require_valid_settings()


def test_name_servers_must_be_addresses_with_or_without_a_port(settings: Settings) -> None:
    assert apply(settings, OUTBOUND_NAMESERVERS=["10.0.0.2", "10.0.0.2:5353", "[::1]", "[2606:4700::1]:53"]) == []


def test_development_settings_are_checked_for_invalid_values_only(settings: Settings) -> None:
    loose = {"ENVIRONMENT": "development", "PRODUCTION": False, "DEBUG": True, "OUTBOUND_ALLOW_LOOPBACK": True}

    assert apply(settings, **loose, BASE_URL="http://127.0.0.1:8000", MEDIA_SCANNER="none", ALLOWED_HOSTS=[]) == []
    assert apply(settings, **loose, OIDC_ISSUER="http://localhost:9400", BASE_URL="http://127.0.0.1:8000") == []
    assert [problem[:15] for problem in apply(settings, **loose, ENCRYPTION_KEYS=["x"])] == ["ENCRYPTION_KEYS"]


def test_production_without_settings_reports_all_that_are_missing(tmp_path: Path) -> None:
    result = manage(tmp_path, "manage.py", "check", ENVIRONMENT="production", DEBUG="true")

    assert result.returncode != 0
    wanted = ("DEBUG", "SECRET_KEY", "ENCRYPTION_KEYS", "ALLOWED_HOSTS", "BASE_URL", "MEDIA_SCANNER")
    assert [name for name in wanted if name not in result.stderr] == []
    assert "Traceback" not in result.stderr


def test_the_web_process_does_not_start_with_invalid_production_settings(tmp_path: Path) -> None:
    result = manage(tmp_path, "-c", "import config.wsgi", ENVIRONMENT="production")

    assert result.returncode != 0
    assert "ENCRYPTION_KEYS is missing" in result.stderr
