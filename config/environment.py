"""Reads settings from environment variables and the file `.env`, and generates secrets for development."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import environ
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()
environ.Env.read_env(BASE_DIR / ".env")
POSTGRES_OPTIONS = {
    "connect_timeout": 3,
    # The maximum time that a request with a repeated Idempotency-Key waits (config/api/idempotency.py).
    "options": "-c lock_timeout=10s -c idle_in_transaction_session_timeout=10s",
    # Detect a server whose machine or network failed without closing the connection.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
    # A statement of config/db/fast_read.py or writes.py is prepared when a connection has run it five times; no others are.
    "prepare_threshold": 5 if env.bool("DATABASE_PREPARED_STATEMENTS", default=True) else None,
}


def ensure_data_dir() -> Path:
    """Return the folder for all files that the service writes (variable `DATA_DIR`, default `var/`); create it if missing."""
    path = Path(env.str("DATA_DIR", default=str(BASE_DIR / "var"))).resolve()
    path.mkdir(parents=True, exist_ok=True)
    return path


def read_secret(name: str, default: str = "") -> str:
    """Read a secret from an environment variable, or from the file named by the variable `<name>_FILE`.

    A `$` in the secret is not special.

    Raises ImproperlyConfigured, whose message never contains the file's content.
    """
    value, path = os.environ.get(name), os.environ.get(f"{name}_FILE")
    if not path:
        return value or default
    if value:
        raise ImproperlyConfigured(f"{name} and {name}_FILE are both set: remove one of them.")
    try:
        content = Path(path).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ImproperlyConfigured(f"{name}_FILE: {path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise ImproperlyConfigured(f"{name}_FILE: {path} is not a text file in UTF-8.") from None
    if not content:
        raise ImproperlyConfigured(f"{name}_FILE: {path} is empty.")
    return content


def read_secret_list(name: str, default: Sequence[str] = ()) -> list[str]:
    """Read a comma-separated list of secrets from an environment variable, or from the file named by `<name>_FILE`."""
    return [part.strip() for part in read_secret(name).split(",") if part.strip()] or list(default)


def read_seconds_list(name: str, default: str) -> tuple[int, ...]:
    """Read a list of durations in seconds, such as `10,30,120`, from an environment variable."""
    return tuple(int(part) for part in env.str(name, default=default).split(",") if part.strip())


def read_price_list(default: str) -> dict[str, int]:
    """Read the environment variable `PRICE_LIST`: prices in cents by name, such as `default=1,x=2,x+url=20`."""
    pairs = (pair.partition("=") for pair in env.str("PRICE_LIST", default=default).split(","))
    return {name.strip(): int(cents) for name, _, cents in pairs}


def read_platform_settings() -> dict[str, str]:
    """Read the platforms' settings from environment variables such as `X_CLIENT_ID` or `BLUESKY_API_BASE`.

    A second application of a platform has a longer name before the suffix.
    """
    endings = (
        "_CLIENT_ID",
        "_CLIENT_SECRET",
        "_CLIENT_NAME",
        "_CLIENT_WEBSITE",
        "_API_BASE",
        "_AUTH_BASE",
        "_API_VERSION",
        "_SCOPES",
        "_PKCE",
        "_VERIFIED_PREFIX",
    )
    ours = ("OIDC_",)  # the identity provider is not a platform
    given = {name.removesuffix("_FILE") if name.endswith("_CLIENT_SECRET_FILE") else name for name in os.environ}
    names = sorted(name for name in given if name.endswith(endings) and not name.startswith(ours))
    return {name: read_secret(name) if name.endswith("_CLIENT_SECRET") else os.environ[name] for name in names}


def storages_setting(url: str, *, production: bool = False) -> dict[str, dict[str, Any]]:
    """Return the setting STORAGES from the variable `STORAGE_URL`: an S3 bucket, or local files if the URL is empty.

    In production, static files have hashes in their names (config/pages/static_files.py).

    Raises ImproperlyConfigured, whose message never contains the value, because it may include keys.
    """
    files = {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"file_permissions_mode": 0o600, "directory_permissions_mode": 0o700},
    }
    bucket = {"BACKEND": "media.object_storage.ObjectStorage", "OPTIONS": _bucket_options(url)} if url else {}
    plain, hashed = (
        "django.contrib.staticfiles.storage.StaticFilesStorage",
        "config.pages.static_files.HashedStaticFilesStorage",
    )
    return {"default": bucket or files, "staticfiles": {"BACKEND": hashed if production else plain}}


# The query parameters of STORAGE_URL; django-storages has the same names, but `location` for `prefix`.
_BUCKET_PARAMETERS = ("endpoint_url", "region_name", "prefix", "addressing_style", "access_key", "secret_key")


def _bucket_options(url: str) -> dict[str, str]:
    try:
        parts = urlsplit(url)
        query = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
        endpoint = urlsplit(query.get("endpoint_url", "https://default"))
    except ValueError:
        raise ImproperlyConfigured("STORAGE_URL cannot be read as s3://bucket?endpoint_url=….") from None
    bare = parts.netloc and "@" not in parts.netloc and not parts.path.strip("/") and not parts.fragment
    problems = [
        (
            parts.scheme != "s3" or not bare,
            "must be s3://bucket?endpoint_url=…; leave it empty to store files on this machine.",
        ),
        (not set(query) <= set(_BUCKET_PARAMETERS), f"accepts only these query parameters: {', '.join(_BUCKET_PARAMETERS)}."),
        (("access_key" in query) != ("secret_key" in query), "has only one of access_key and secret_key; set both or none."),
        (endpoint.scheme not in ("http", "https") or not endpoint.netloc, "has an endpoint_url that is not an http address."),
    ]
    for bad, words in problems:
        if bad:
            raise ImproperlyConfigured(f"STORAGE_URL {words}")
    location = query.pop("prefix", "").strip("/")
    return {**query, "bucket_name": parts.netloc, "location": location}


def load_or_create_dev_secret(directory: Path, name: str) -> str:
    """Return a random secret for development, which is stored in the data directory at the first use.

    If two processes start at once, the first to link its finished file wins, and the other reads that file.
    """
    path = directory / f"{name}.secret"
    if not path.exists():
        made = Fernet.generate_key().decode()
        draft = directory / f".{name}.{os.getpid()}"
        descriptor = os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(made)
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text().strip()
