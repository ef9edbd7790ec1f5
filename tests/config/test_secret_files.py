"""Secrets read from the files that `<SETTING>_FILE` names, as Docker and systemd provide them."""

from __future__ import annotations

import os
import traceback
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.environment import read_secret
from tests.config.test_checks import manage
from tests.config.test_settings import load

# What the file of a setting holds, the setting that it becomes, and its value.
FILES: dict[str, tuple[str, str, Any]] = {
    "SECRET_KEY": ("$a secret, with signs\n", "SECRET_KEY", "$a secret, with signs"),
    "SECRET_KEY_FALLBACKS": ("old-1,old-2\n", "SECRET_KEY_FALLBACKS", ["old-1", "old-2"]),
    "ENCRYPTION_KEYS": ("k1-first,\nk2-second\n", "ENCRYPTION_KEYS", ["k1-first", "k2-second"]),
    "ADMIN_TOKEN": ("an operator's token\r\n", "ADMIN_TOKEN", "an operator's token"),
    "REDIS_URL": ("redis://:p@127.0.0.1:6379/3\n", "REDIS_URL", "redis://:p@127.0.0.1:6379/3"),
    "EMAIL_URL": ("smtp+tls://a:p%2Bw@mail.example:587\n", "EMAIL_HOST_PASSWORD", "p+w"),
    "OIDC_CLIENT_SECRET": ("of the client", "OIDC_CLIENT_SECRET", "of the client"),
    "STRIPE_SECRET_KEY": ("sk_test_1\n", "STRIPE_SECRET_KEY", "sk_test_1"),
    "STRIPE_WEBHOOK_SECRET": ("whsec_1\n", "STRIPE_WEBHOOK_SECRET", "whsec_1"),
}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Load the settings in a process whose secrets are all in files."""
    folder = tmp_path_factory.mktemp("secrets")
    contents = {name: content for name, (content, _, _) in FILES.items()} | {
        "DATABASE_URL": "postgres://person:$ecret@db.example:5433/posts\n",
        "STORAGE_URL": "s3://bucket?access_key=a&secret_key=s\n",
        "X_CLIENT_SECRET": "of X\n",
    }
    for name, content in contents.items():
        (folder / name).write_text(content)
    named = {f"{name}_FILE": str(folder / name) for name in contents}
    return load(tmp_path_factory.mktemp("data"), X_CLIENT_ID="an id", **named)


@pytest.mark.parametrize("name", FILES)
def test_a_secret_is_read_from_its_file(loaded: dict[str, Any], name: str) -> None:
    _, setting, value = FILES[name]

    assert loaded[setting] == value


def test_urls_with_passwords_are_read_from_their_files(loaded: dict[str, Any]) -> None:
    assert loaded["DATABASES"]["default"]["PASSWORD"] == "$ecret"
    assert loaded["STORAGES"]["default"]["OPTIONS"]["secret_key"] == "s"
    assert loaded["CELERY_BROKER_URL"] == FILES["REDIS_URL"][2]


def test_the_secrets_of_platforms_are_read_from_their_files(loaded: dict[str, Any]) -> None:
    assert loaded["PLATFORM_SETTINGS"] == {"X_CLIENT_ID": "an id", "X_CLIENT_SECRET": "of X"}


@pytest.mark.parametrize(
    ("content", "why"),
    [(None, "cannot be read: No such file"), (b"", "is empty"), (b" \n", "is empty"), (b"\xffhidden", "not a text file")],
)
def test_an_unusable_file_is_reported_with_its_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None, why: str
) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setenv("ADMIN_TOKEN_FILE", str(file))
    with pytest.raises(ImproperlyConfigured) as refused:
        read_secret("ADMIN_TOKEN")

    assert str(refused.value).startswith(f"ADMIN_TOKEN_FILE: {file}")
    assert why in str(refused.value)
    assert "hidden" not in "".join(traceback.format_exception(refused.value))


def test_a_folder_is_refused_as_a_secret_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADMIN_TOKEN_FILE", str(tmp_path))

    with pytest.raises(ImproperlyConfigured, match=r"ADMIN_TOKEN_FILE: .* cannot be read"):
        read_secret("ADMIN_TOKEN")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_read_permission_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "token"
    file.write_text("hidden")
    file.chmod(0)
    monkeypatch.setenv("ADMIN_TOKEN_FILE", str(file))

    with pytest.raises(ImproperlyConfigured, match=r"ADMIN_TOKEN_FILE: .* cannot be read: Permission denied"):
        read_secret("ADMIN_TOKEN")


@pytest.mark.parametrize("name", [*FILES, "DATABASE_URL", "STORAGE_URL", "X_CLIENT_SECRET"])
def test_a_secret_with_both_a_value_and_a_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (tmp_path / "file").write_text("hidden-in-the-file")
    monkeypatch.setenv(name, "hidden-in-the-variable")
    monkeypatch.setenv(f"{name}_FILE", str(tmp_path / "file"))

    with pytest.raises(ImproperlyConfigured) as refused:
        read_secret(name)
    assert str(refused.value) == f"{name} and {name}_FILE are both set: remove one of them."


def test_an_empty_variable_beside_its_file_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("of the file")
    monkeypatch.setenv("ADMIN_TOKEN", "")
    monkeypatch.setenv("ADMIN_TOKEN_FILE", str(tmp_path / "file"))

    assert read_secret("ADMIN_TOKEN") == "of the file"


def test_the_service_does_not_start_with_a_value_and_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("hidden-in-the-file")
    result = manage(tmp_path, "manage.py", "check", X_CLIENT_SECRET="hidden-too", X_CLIENT_SECRET_FILE=str(tmp_path / "file"))

    assert result.returncode != 0
    assert "X_CLIENT_SECRET and X_CLIENT_SECRET_FILE are both set" in result.stderr
    assert "hidden" not in result.stderr + result.stdout
