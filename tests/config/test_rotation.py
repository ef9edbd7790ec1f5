"""Rotation of ENCRYPTION_KEYS: all values are encrypted with the first key, even during concurrent writes."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command
from django.db import connection
from pytest_django import Settings

from accounts.models import ConnectedAccount
from config.db import rotation
from config.db.rotation import FieldReencryptionResult, encrypted_fields, reencrypt_stored_secrets
from tests import factories
from webhooks.models import SigningSecret
from workspaces.models import Workspace

OLD, NEW = Fernet.generate_key().decode(), Fernet.generate_key().decode()


@pytest.fixture(autouse=True)
def _old_key(settings: Settings, db: None) -> None:
    settings.ENCRYPTION_KEYS = [OLD]


def accounts(number: int) -> list[ConnectedAccount]:
    return [factories.AccountFactory.create(credentials={"number": each}) for each in range(number)]


def run(**options: Any) -> str:
    output = StringIO()
    call_command("rotate_encryption", stdout=output, stderr=StringIO(), **options)
    return output.getvalue()


def read(rows: list[ConnectedAccount]) -> list[Any]:
    return [(ConnectedAccount.objects.get(pk=row.pk).credentials or {})["number"] for row in rows]


def test_after_a_rotation_the_old_key_is_not_needed(
    settings: Settings, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rotation, "BATCH", 2)
    rows = accounts(5)
    SigningSecret.objects.create(workspace=workspace, secret="whsec_now", previous_secret="whsec_before")
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    first, second = run(), run()
    settings.ENCRYPTION_KEYS = [NEW]

    assert "7 values were encrypted again" in first
    assert "Remove the other keys" in second
    assert read(rows) == [0, 1, 2, 3, 4]
    assert SigningSecret.objects.get().previous_secret == "whsec_before"


def test_a_dry_run_counts_without_changes(settings: Settings) -> None:
    rows = accounts(2)
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    output = run(dry_run=True)
    settings.ENCRYPTION_KEYS = [OLD]

    assert "accounts.ConnectedAccount.credentials: 2 values, 2 of another key, 0 unreadable" in output
    assert read(rows) == [0, 1]


def test_an_interrupted_rotation_can_be_continued(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rotation, "BATCH", 2)
    rows = accounts(4)
    settings.ENCRYPTION_KEYS = [NEW, OLD]

    def cut_off(done: FieldReencryptionResult) -> None:
        if done.renewed:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reencrypt_stored_secrets(report=cut_off)

    assert "2 values were encrypted again" in run()
    assert read(rows) == [0, 1, 2, 3]


def test_a_concurrent_write_is_not_overwritten(settings: Settings) -> None:
    """A value that changes between reading and encrypting again keeps the writer's version."""
    (row,) = accounts(1)
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    written: list[str] = []

    def somebody_is_first(execute: Any, sql: str, *rest: Any) -> Any:
        if sql.startswith("UPDATE") and not written:
            written.append(sql)
            row.credentials = {"number": 99}
            row.save()
        return execute(sql, *rest)

    with connection.execute_wrapper(somebody_is_first):
        run()
    settings.ENCRYPTION_KEYS = [NEW]

    assert written
    assert read([row]) == [99]


def test_values_that_no_key_decrypts_are_reported_and_do_not_stop_the_rotation(settings: Settings) -> None:
    lost, whole = accounts(2)
    ConnectedAccount.objects.filter(pk=lost.pk).update(
        credentials=ConnectedAccount._meta.get_field("credentials").encrypt_value(whole.pk, {"number": 7})
    )
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    with pytest.raises(CommandError, match="No key decrypts 1 values"):
        run()
    settings.ENCRYPTION_KEYS = [NEW]

    assert read([whole]) == [1]


def test_every_encrypted_field_is_found() -> None:
    found = {f"{model.__name__}.{field.name}" for model, field in encrypted_fields()}

    assert found >= {"ConnectedAccount.credentials", "ConnectedAccount.tokens", "SigningSecret.previous_secret"}
