"""Encrypted model fields: values are encrypted in the database and bound to their row."""

from __future__ import annotations

from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.db import connection, transaction
from pytest_django import Settings

from accounts.models import ConnectedAccount
from config.db.encryption import Ciphertext, SealedValueError
from tests import factories
from webhooks.models import SigningSecret
from workspaces.models import Workspace

SECRETS = {"app_password": "abcd-efgh-ijkl-mnop", "nested": [1, None, True, "Grüße 🎈"]}


def stored(row: Any, column: str) -> str | None:
    """Return the column's raw value in the database."""
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT {column} FROM "{row._meta.db_table}" WHERE {row._meta.pk.column} = %s', [row.pk])  # noqa: S608
        return cursor.fetchone()[0]


def read(account: ConnectedAccount) -> ConnectedAccount:
    return ConnectedAccount.objects.get(pk=account.pk)


@pytest.fixture
def account(db: None) -> ConnectedAccount:
    return factories.AccountFactory.create(credentials=SECRETS)


def test_a_value_is_encrypted_in_the_table_and_decrypted_when_read(account: ConnectedAccount) -> None:
    text = stored(account, "credentials")

    assert text
    assert text.startswith("gAAAA")
    assert "abcd-efgh" not in text
    assert "app_password" not in text
    assert (account.credentials, read(account).credentials) == (SECRETS, SECRETS)


def test_the_same_value_has_a_new_ciphertext_each_time(account: ConnectedAccount) -> None:
    first = stored(account, "credentials")
    account.save()

    assert stored(account, "credentials") != first
    assert read(account).credentials == SECRETS


def test_loading_and_saving_a_row_does_not_change_the_ciphertext(account: ConnectedAccount, settings: Settings) -> None:
    sealed = stored(account, "credentials")
    loaded = read(account)
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    loaded.handle = "renamed"
    loaded.save()

    assert stored(account, "credentials") == sealed


def test_null_is_stored_as_null(account: ConnectedAccount) -> None:
    assert (stored(account, "tokens"), read(account).tokens) == (None, None)


def test_a_deferred_value_is_decrypted_when_it_is_read(account: ConnectedAccount) -> None:
    assert ConnectedAccount.objects.defer("credentials").get(pk=account.pk).credentials == SECRETS


def test_a_ciphertext_copied_to_another_row_does_not_decrypt(account: ConnectedAccount) -> None:
    other = factories.AccountFactory.create(workspace=account.workspace, credentials={"app_password": "own"})
    ConnectedAccount.objects.filter(pk=other.pk).update(credentials=Ciphertext(stored(account, "credentials")))

    with pytest.raises(SealedValueError, match="belongs to another row"):
        read(other).credentials  # noqa: B018


def test_a_ciphertext_copied_to_another_column_does_not_decrypt(account: ConnectedAccount) -> None:
    ConnectedAccount.objects.filter(pk=account.pk).update(tokens=Ciphertext(stored(account, "credentials")))

    with pytest.raises(SealedValueError, match="belongs to another row"):
        read(account).tokens  # noqa: B018


def test_a_changed_ciphertext_does_not_decrypt(account: ConnectedAccount) -> None:
    text = stored(account, "credentials") or ""
    ConnectedAccount.objects.filter(pk=account.pk).update(credentials=Ciphertext(text[:-9] + "A" * 9))

    with pytest.raises(SealedValueError, match="No key decrypts"):
        read(account).credentials  # noqa: B018


def test_keys_are_rotated_by_putting_a_new_one_first(account: ConnectedAccount, settings: Settings) -> None:
    old, new = settings.ENCRYPTION_KEYS[0], Fernet.generate_key().decode()
    settings.ENCRYPTION_KEYS = [new, old]
    both = read(account)
    assert both.credentials == SECRETS
    both.credentials = {"app_password": "new"}
    both.save()
    settings.ENCRYPTION_KEYS = [new]
    assert read(account).credentials == {"app_password": "new"}
    settings.ENCRYPTION_KEYS = [old]

    with pytest.raises(SealedValueError):
        read(account).credentials  # noqa: B018


def test_a_queryset_update_accepts_only_sealed_values(account: ConnectedAccount) -> None:
    rows = ConnectedAccount.objects.filter(pk=account.pk)
    with pytest.raises(TypeError, match=r"field\.encrypt_value"), transaction.atomic():
        rows.update(credentials={"app_password": "plain"})
    rows.update(
        credentials=ConnectedAccount._meta.get_field("credentials").encrypt_value(account.pk, {"app_password": "sealed"})
    )

    assert read(account).credentials == {"app_password": "sealed"}


def test_a_filter_by_a_plain_value_is_refused(account: ConnectedAccount) -> None:
    with pytest.raises(TypeError, match=r"field\.encrypt_value"):
        ConnectedAccount.objects.filter(credentials="abcd-efgh-ijkl-mnop").exists()


def test_rows_created_in_bulk_are_encrypted_each_for_its_own_row(workspace: Workspace) -> None:
    made = factories.AccountFactory.build_batch(2, workspace=workspace, credentials=SECRETS)
    ConnectedAccount.objects.bulk_create(made)

    assert len({stored(row, "credentials") for row in made}) == 2
    assert [read(row).credentials for row in made] == [SECRETS] * 2


def test_signing_secrets_are_encrypted(workspace: Workspace) -> None:
    row = SigningSecret.objects.create(workspace=workspace, secret="whsec_plain")

    assert "whsec_plain" not in str(stored(row, "secret"))
    assert SigningSecret.objects.get(pk=row.pk).secret == "whsec_plain"
