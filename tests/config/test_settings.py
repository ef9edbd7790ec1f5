"""Settings are read from the environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured

KEYS = ["k1-first", "k2-second"]
# What the operator sets, and the setting that it becomes.
READ: dict[str, tuple[str, str, Any]] = {
    "ENVIRONMENT": ("production", "PRODUCTION", True),
    "BASE_URL": ("https://posts.example.com/", "BASE_URL", "https://posts.example.com"),
    "SECRET_KEY": ("$a secret, with signs", "SECRET_KEY", "$a secret, with signs"),
    "ALLOWED_HOSTS": ("a.example,b.example", "ALLOWED_HOSTS", ["a.example", "b.example"]),
    "DEBUG": ("true", "DEBUG", True),
    "REDIS_URL": ("redis://127.0.0.1:6379/3", "REDIS_URL", "redis://127.0.0.1:6379/3"),
    "ENCRYPTION_KEYS": (",".join(KEYS), "ENCRYPTION_KEYS", KEYS),
    "OIDC_ISSUER": ("https://login.example.com", "OIDC_ISSUER", "https://login.example.com"),
    "OIDC_CLIENT_SECRET": ("$a secret", "OIDC_CLIENT_SECRET", "$a secret"),
    "OIDC_REQUIRED_SCOPE": ("posts", "OIDC_REQUIRED_SCOPE", "posts"),
    "OIDC_ALLOW_CLIENT_CREDENTIALS": ("true", "OIDC_ALLOW_CLIENT_CREDENTIALS", True),
    "OIDC_SCOPES": ("openid groups", "OIDC_SCOPES", ["openid", "groups"]),
    "EMAIL_URL": ("smtp+tls://a:p%2Bw@mail.example:587", "EMAIL_HOST_PASSWORD", "p+w"),
    "FORWARDED_ALLOW_IPS": ("10.0.0.0/8,::1", "TRUSTED_PROXIES", ["10.0.0.0/8", "::1"]),
    "RATE_LIMIT_PER_MINUTE": ("7", "RATE_LIMIT_PER_MINUTE", 7),
    "API_KEY_DEFAULT_DAYS": ("90", "API_KEY_DEFAULT_DAYS", 90),
    "MAX_RATE_LIMIT_PER_MINUTE": ("70", "MAX_RATE_LIMIT_PER_MINUTE", 70),
    "WORKSPACE_RATE_LIMIT_PER_MINUTE": ("700", "WORKSPACE_RATE_LIMIT_PER_MINUTE", 700),
    "MAX_FREE_CREDIT_CENTS": ("0", "MAX_FREE_CREDIT_CENTS", 0),
    "MAX_WORKSPACES_PER_OWNER": ("3", "MAX_WORKSPACES_PER_OWNER", 3),
    "OUTBOUND_ALLOW_LOOPBACK": ("true", "OUTBOUND_ALLOW_LOOPBACK", True),
    "WEBHOOK_RETRY_SCHEDULE": ("1, 2,3", "WEBHOOK_RETRY_SCHEDULE", [1, 2, 3]),
    "PUBLISH_RETRY_SCHEDULE": ("4", "PUBLISH_RETRY_SCHEDULE", [4]),
    "WAIT_SECONDS": ("3", "WAIT_SECONDS", 3),
    "SCHEDULE_GRACE_HOURS": ("5", "SCHEDULE_GRACE_HOURS", 5),
    "MEDIA_SCANNER": ("clamav", "MEDIA_SCANNER", "clamav"),
    "PRICE_LIST": ("default=2, x=3,x+url=30", "PRICE_LIST", {"default": 2, "x": 3, "x+url": 30}),
}
DEFAULTS = {
    "ENVIRONMENT": "development",
    "PRODUCTION": False,
    "DEBUG": False,
    "BASE_URL": "http://127.0.0.1:8000",
    "REDIS_URL": "",
    "EMBEDDED": True,
    "OIDC_ISSUER": "",
    "OIDC_AUDIENCE": "",
    "OIDC_REQUIRED_SCOPE": "",
    "OIDC_ALLOW_CLIENT_CREDENTIALS": False,
    "OIDC_SCOPES": ["openid", "profile", "email"],
    "EMAIL_BACKEND": "django.core.mail.backends.console.EmailBackend",
    "DEFAULT_FROM_EMAIL": "no-reply@127.0.0.1",
    "TRUSTED_PROXIES": ["127.0.0.1", "::1"],
    "RATE_LIMIT_PER_MINUTE": 60,
    "API_KEY_DEFAULT_DAYS": None,
    "MAX_RATE_LIMIT_PER_MINUTE": 600,
    "WORKSPACE_RATE_LIMIT_PER_MINUTE": 1200,
    "MAX_FREE_CREDIT_CENTS": 100,
    "MAX_WORKSPACES_PER_OWNER": 20,
    "OUTBOUND_ALLOW_LOOPBACK": False,
    "WEBHOOK_RETRY_SCHEDULE": [5, 300, 1800, 7200, 18000, 36000, 36000],
    "PUBLISH_RETRY_SCHEDULE": [10, 30, 120, 600, 1800, 3600],
    "WAIT_SECONDS": 25,
    "SCHEDULE_GRACE_HOURS": 24,
    "MEDIA_SCANNER": "none",
    "PRICE_LIST": {"default": 1, "x": 2, "x+url": 20},
    "PLATFORM_SETTINGS": {},
}
PRINT_SETTINGS = """
import json
from config import settings
print(json.dumps({name: value for name, value in vars(settings).items() if name.isupper()}, default=str))
"""


def load(data_dir: Path, **environment: str) -> dict[str, Any]:
    """Load the settings in a process with only this environment."""
    result = subprocess.run(
        [sys.executable, "-c", PRINT_SETTINGS],
        cwd=configured.BASE_DIR,
        env={"PATH": os.environ["PATH"], "DATA_DIR": str(data_dir), **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return dict(json.loads(result.stdout))


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return load(tmp_path_factory.mktemp("bare"))


PLATFORMS = {
    "X_CLIENT_ID": "an id",
    "BLUESKY_API_BASE": "http://127.0.0.1:1",
    "LINKEDIN_API_VERSION": "202612",
    "LINKEDIN_SCOPES": "openid profile",
    "LINKEDIN_PAGES_CLIENT_ID": "another id",
    "LINKEDIN_PAGES_SCOPES": "r_basicprofile",
    "MASTODON_CLIENT_NAME": "Our posts",
    "MASTODON_CLIENT_WEBSITE": "https://posts.example",
}


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    database = "postgres://person:secret@db.example:5433/posts"
    platforms = {**PLATFORMS, "OTHER": "left out"}
    given = {name: value for name, (value, _, _) in READ.items()}
    return load(tmp_path_factory.mktemp("full"), DATABASE_URL=database, **platforms, **given)


@pytest.mark.parametrize("name", READ)
def test_a_setting_is_read_from_the_environment(full: dict[str, Any], name: str) -> None:
    _, setting, value = READ[name]

    assert full[setting] == value


def test_database_and_broker_are_set_by_their_urls(full: dict[str, Any]) -> None:
    database = full["DATABASES"]["default"]

    assert database["ENGINE"] == "django.db.backends.postgresql"
    assert [database[name] for name in ("HOST", "PORT", "NAME", "USER", "PASSWORD")] == [
        *("db.example", 5433, "posts", "person", "secret")
    ]
    assert (full["CELERY_BROKER_URL"], full["EMBEDDED"]) == ("redis://127.0.0.1:6379/3", False)


def test_platform_settings_are_read_by_name(full: dict[str, Any]) -> None:
    assert full["PLATFORM_SETTINGS"] == PLATFORMS


def test_production_cookies_are_secure(full: dict[str, Any], bare: dict[str, Any]) -> None:
    assert (full["SESSION_COOKIE_NAME"], full["CSRF_COOKIE_NAME"]) == ("__Host-session", "__Host-csrf")
    assert full["SESSION_COOKIE_SECURE"] is full["CSRF_COOKIE_SECURE"] is full["SECURE_SSL_REDIRECT"] is True
    assert full["SECURE_HSTS_SECONDS"] >= 31_536_000
    assert "SECURE_SSL_REDIRECT" not in bare


@pytest.mark.parametrize("name", DEFAULTS)
def test_unset_settings_have_their_defaults(bare: dict[str, Any], name: str) -> None:
    assert bare[name] == DEFAULTS[name]


def test_development_stores_its_files_and_generated_secrets_in_the_data_directory(bare: dict[str, Any]) -> None:
    folder = Path(bare["DATA_DIR"])
    again = load(folder)

    assert bare["DATABASES"]["default"]["NAME"] == str(folder / "service.sqlite3")
    assert {path.name: oct(path.stat().st_mode & 0o777) for path in folder.glob("*.secret")} == {
        "secret-key.secret": "0o600",
        "encryption-key.secret": "0o600",
    }
    assert (again["SECRET_KEY"], again["ENCRYPTION_KEYS"]) == (bare["SECRET_KEY"], bare["ENCRYPTION_KEYS"])


def test_each_data_directory_has_its_own_secrets(bare: dict[str, Any], tmp_path: Path) -> None:
    other = load(tmp_path)

    assert {other["SECRET_KEY"], *other["ENCRYPTION_KEYS"]} & {bare["SECRET_KEY"], *bare["ENCRYPTION_KEYS"]} == set()


def test_production_generates_no_secrets(tmp_path: Path) -> None:
    settings = load(tmp_path, ENVIRONMENT="production")

    assert (settings["SECRET_KEY"], settings["ENCRYPTION_KEYS"], settings["ALLOWED_HOSTS"]) == ("", [], [])
    assert list(tmp_path.glob("*.secret")) == []
