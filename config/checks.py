"""The Django system check of the settings; web and worker processes refuse to start while a setting is invalid."""

from __future__ import annotations

import os
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cryptography.fernet import Fernet
from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.core.exceptions import ImproperlyConfigured

from config.outbound.destinations import LOOPBACK_HOSTS

SETTINGS_TAG = "settings"  # the tag by which a command runs this system check only


def check_settings(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Django system check: return an error for each invalid setting; production has stricter rules than development."""
    if settings.ENVIRONMENT not in ("development", "production"):
        return [Error(f"ENVIRONMENT={settings.ENVIRONMENT!r} is unknown: use development or production.", id="sps.E000")]
    problems = [message for bad, message in _ALWAYS if bad()]
    if settings.PRODUCTION:
        problems += [message for bad, message in _IN_PRODUCTION if bad()]
    return [Error(message, id="sps.E001") for message in problems]


def require_valid_settings() -> None:
    """Raise ImproperlyConfigured if settings are invalid; web and worker processes call this when they start."""
    problems = [str(problem.msg) for problem in check_settings(None)]
    if problems:
        raise ImproperlyConfigured("The service does not start with these settings: " + " ".join(problems))


def _bad_encryption_key() -> bool:
    try:
        for key in settings.ENCRYPTION_KEYS:
            Fernet(key)
    except ValueError:
        return True
    return False


def _short_secret_key() -> bool:
    try:
        return len(settings.SECRET_KEY) < 32
    except ImproperlyConfigured:  # Django raises this for an empty SECRET_KEY
        return True


def _no_program(value: str) -> bool:
    """Return whether a setting that names a program is wrong: set, but not the absolute path of an executable file."""
    path = Path(value)
    return bool(value) and not (path.is_absolute() and path.is_file() and os.access(path, os.X_OK))


def _cannot_be_asked(address: str) -> bool:
    """Return whether the system check refuses a server URL in the settings: it must be https, or http to localhost."""
    parts = urlsplit(address)
    here = settings.OUTBOUND_ALLOW_LOOPBACK and parts.hostname in LOOPBACK_HOSTS
    return parts.scheme != "https" and not (here and parts.scheme == "http")


def _bad_nameserver(server: str) -> bool:
    try:
        parts = urlsplit(f"//{server}")
        ip_address(parts.hostname or "")
        return parts.port == 0 or parts.netloc != server
    except ValueError:
        return True


_ALWAYS = [
    (
        lambda: any(map(_bad_nameserver, settings.OUTBOUND_NAMESERVERS)),
        "OUTBOUND_NAMESERVERS must be IP addresses with or without a port, such as 10.0.0.2,[::1]:5353.",
    ),
    (_bad_encryption_key, "ENCRYPTION_KEYS contains an invalid Fernet key: each must be 32 bytes in URL-safe base64."),
    (
        lambda: settings.API_KEY_DEFAULT_DAYS is not None and not 1 <= settings.API_KEY_DEFAULT_DAYS <= 36_500,
        "API_KEY_DEFAULT_DAYS must be 1 to 36500 days; without it keys never expire by default.",
    ),
    (lambda: settings.MEDIA_SCANNER not in ("none", "clamav"), "MEDIA_SCANNER is unknown: use none or clamav."),
    (
        lambda: _no_program(settings.FFPROBE),
        "FFPROBE must be the absolute path of a program that can be run, such as /usr/bin/ffprobe.",
    ),
    (
        lambda: _no_program(settings.FFMPEG),
        "FFMPEG must be the absolute path of a program that can be run, such as /usr/bin/ffmpeg.",
    ),
    (
        lambda: bool(settings.OIDC_ISSUER) and _cannot_be_asked(settings.OIDC_ISSUER),
        "OIDC_ISSUER must be an https address; http on this machine needs OUTBOUND_ALLOW_LOOPBACK=true.",
    ),
    (
        lambda: _cannot_be_asked(settings.STRIPE_API_BASE),
        "STRIPE_API_BASE must be an https address; http on this machine needs OUTBOUND_ALLOW_LOOPBACK=true.",
    ),
    (
        lambda: bool(settings.OIDC_CLIENT_ID) != bool(settings.OIDC_CLIENT_SECRET),
        "OIDC_CLIENT_ID and OIDC_CLIENT_SECRET belong together: people sign in with both.",
    ),
    (lambda: len(settings.OIDC_REQUIRED_SCOPE.split()) > 1, "OIDC_REQUIRED_SCOPE must name one scope."),
    (
        lambda: bool(settings.OIDC_STAFF_CLAIM) and not all(settings.OIDC_STAFF_CLAIM.partition("=")),
        "OIDC_STAFF_CLAIM must be a claim and its value, such as groups=operators.",
    ),
]
_IN_PRODUCTION = [
    (lambda: settings.DEBUG, "DEBUG must be off in production."),
    (lambda: settings.OUTBOUND_ALLOW_LOOPBACK, "OUTBOUND_ALLOW_LOOPBACK must be off in production."),
    (_short_secret_key, "SECRET_KEY is missing or shorter than 32 characters."),
    (lambda: not settings.ENCRYPTION_KEYS, "ENCRYPTION_KEYS is missing: comma-separated Fernet keys."),
    (lambda: not settings.ALLOWED_HOSTS, "ALLOWED_HOSTS is missing: the host names that the service answers to."),
    (lambda: "*" in settings.ALLOWED_HOSTS, "ALLOWED_HOSTS must name hosts; * takes any."),
    (lambda: urlsplit(settings.BASE_URL).scheme != "https", "BASE_URL must be the service's public https origin."),
    (
        lambda: bool(settings.ADMIN_TOKEN) and len(settings.ADMIN_TOKEN) < 32,
        "ADMIN_TOKEN is shorter than 32 characters: `openssl rand -hex 32` makes one.",
    ),
    (lambda: settings.MEDIA_SCANNER == "none", "MEDIA_SCANNER must name a scanner in production: clamav."),
]
