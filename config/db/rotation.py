"""The rotation of encryption keys: encrypts all stored secrets again with the newest key while the service runs.

No progress is stored: a value that the first key decrypts is done. An interrupted run can therefore be repeated, and a run
that finds nothing shows that the old keys are unused. Keep the old keys for another week: publications in progress
contain encrypted upload URLs, which are not rotated and last no longer than that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.apps import apps
from django.db.models import Model

from config.db.encryption import EncryptedJSONField, SealedValueError

BATCH = 200


@dataclass
class FieldReencryptionResult:
    """The result of a key rotation for one encrypted field: the numbers of all, renewed and unreadable values."""

    name: str
    values: int = 0
    renewed: int = 0
    unreadable: int = 0

    def __str__(self) -> str:
        return f"{self.name}: {self.values:,} values, {self.renewed:,} of another key, {self.unreadable:,} unreadable"


def encrypted_fields() -> list[tuple[type[Model], EncryptedJSONField]]:
    """Return the encrypted fields of all models, for the key rotation."""
    return [
        (model, field)
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, EncryptedJSONField)
    ]


def reencrypt_stored_secrets(
    *, dry_run: bool = False, report: Callable[[FieldReencryptionResult], None]
) -> list[FieldReencryptionResult]:
    """Encrypt stored secrets again with the newest encryption key, except those that already use this key.

    A value that is written in the meantime is left unchanged; it uses the first key if the writing process has that key.
    """
    found = []
    for model, field in encrypted_fields():
        done = FieldReencryptionResult(f"{model._meta.label}.{field.name}")
        for batch in _batches(model, field):
            for pk, sealed in batch:
                _renew(model, field, pk, sealed, done, dry_run=dry_run)
            report(done)
        found.append(done)
    return found


def _renew(
    model: type[Model], field: EncryptedJSONField, pk: object, sealed: str, done: FieldReencryptionResult, *, dry_run: bool
) -> None:
    done.values += 1
    try:
        renewed = field.reencrypted_value_if_outdated(str(pk), sealed)
    except SealedValueError:
        done.unreadable += 1
        return
    if renewed is None:
        return
    unchanged = model._base_manager.filter(pk=pk, **{field.attname: sealed})
    done.renewed += 1 if dry_run else unchanged.update(**{field.attname: renewed})


def _batches(model: type[Model], field: EncryptedJSONField) -> Iterator[list[tuple[object, str]]]:
    """Yield the rows that have a value in an encrypted field, in batches ordered by primary key, for the key rotation."""
    rows = model._base_manager.filter(**{f"{field.attname}__isnull": False}).order_by("pk")
    batch = list(rows.values_list("pk", field.attname)[:BATCH])
    while batch:
        yield batch
        batch = list(rows.filter(pk__gt=batch[-1][0]).values_list("pk", field.attname)[:BATCH])
