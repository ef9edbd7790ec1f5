"""Sealing all secrets anew after ENCRYPTION_KEYS has got another first key, while the service goes on.

There is no list of what is done: a value that the first key opens is done. So a run that was cut off has only less to do
the next time, and a run that finds nothing says that the old keys may go. They should stay a week all the same: addresses
of uploads stand sealed in publications that are under way, where they are not looked for, and last no longer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.apps import apps
from django.db.models import Model

from config.db.encryption import EncryptedJSONField, SealedValueError

BATCH = 200


@dataclass
class Rotated:
    """One field's values: how many there are, how many were sealed anew (or would be), and how many no key opens."""

    name: str
    values: int = 0
    renewed: int = 0
    unreadable: int = 0


def encrypted_fields() -> list[tuple[type[Model], EncryptedJSONField]]:
    """Every encrypted field of every model."""
    return [
        (model, field)
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, EncryptedJSONField)
    ]


def rotate(*, dry_run: bool = False, say: Callable[[Rotated], None]) -> list[Rotated]:
    """Seal anew what another than the first key has sealed; `say` hears after each batch how far a field is.

    A value that somebody writes meanwhile is theirs: it is left as it stands, and was sealed with the first key anyway if
    their process knows it.
    """
    found = []
    for model, field in encrypted_fields():
        done = Rotated(f"{model._meta.label}.{field.name}")
        for batch in _batches(model, field):
            for pk, sealed in batch:
                _renew(model, field, pk, sealed, done, dry_run=dry_run)
            say(done)
        found.append(done)
    return found


def _renew(
    model: type[Model], field: EncryptedJSONField, pk: object, sealed: str, done: Rotated, *, dry_run: bool
) -> None:
    done.values += 1
    try:
        renewed = field.renewed(str(pk), sealed)
    except SealedValueError:
        done.unreadable += 1
        return
    if renewed is None:
        return
    unchanged = model._base_manager.filter(pk=pk, **{field.attname: sealed})
    done.renewed += 1 if dry_run else unchanged.update(**{field.attname: renewed})


def _batches(model: type[Model], field: EncryptedJSONField) -> Iterator[list[tuple[object, str]]]:
    """(primary key, sealed value) of the rows that have one, in the order of their keys."""
    rows = model._base_manager.filter(**{f"{field.attname}__isnull": False}).order_by("pk")
    batch = list(rows.values_list("pk", field.attname)[:BATCH])
    while batch:
        yield batch
        batch = list(rows.filter(pk__gt=batch[-1][0]).values_list("pk", field.attname)[:BATCH])
