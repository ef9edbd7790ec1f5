"""The model field EncryptedJSONField, whose encrypted value can be decrypted only in its own table, column and row."""

from __future__ import annotations

from typing import Any

from cryptography.fernet import InvalidToken
from django.conf import settings
from django.db import models

from config.sealing import Ciphertext, SealedValueError, decrypt_for_row, encrypt_for_row, fernet_for_keys

__all__ = ["Ciphertext", "EncryptedJSONField", "SealedValueError"]


class EncryptedJSONField(models.TextField):
    """A model field for a JSON value that is stored encrypted; the row's id must be set before the value is saved.

    A queryset's update() does not know the row: pass it `field.encrypt_value(pk, value)`.
    """

    _pyi_private_set_type: Any  # for django-stubs: attributes of this kind hold any JSON value
    _pyi_private_get_type: Any

    def contribute_to_class(self, cls: type[models.Model], name: str, private_only: bool = False) -> None:
        super().contribute_to_class(cls, name, private_only)
        setattr(cls, name, _OpensWhenRead(self))

    def encrypt_value(self, pk: str, value: Any) -> Ciphertext:
        """Return the value as this EncryptedJSONField stores it: encrypted for the row with this primary key."""
        return encrypt_for_row(self._row(pk), value)

    def decrypt_value(self, pk: str, sealed: str) -> Any:
        """Return the decrypted value of this EncryptedJSONField in the row with this primary key. Raises SealedValueError."""
        return decrypt_for_row(self._row(pk), sealed)

    def reencrypted_value_if_outdated(self, pk: str, sealed: str) -> Ciphertext | None:
        """Return this EncryptedJSONField's value encrypted with the newest key, or None if it already uses that key."""
        try:
            fernet_for_keys((settings.ENCRYPTION_KEYS[0],)).decrypt(sealed.encode())
        except InvalidToken:
            return self.encrypt_value(pk, self.decrypt_value(pk, sealed))
        return None

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> Ciphertext | None:
        return None if value is None else Ciphertext(value)

    def pre_save(self, model_instance: models.Model, add: bool) -> Ciphertext | None:
        value = model_instance.__dict__[self.attname]
        return value if value is None or isinstance(value, Ciphertext) else self.encrypt_value(str(model_instance.pk), value)

    def get_prep_value(self, value: Any) -> str | None:
        """Return the value for the database unchanged; raises TypeError for a value that is not sealed (encrypted)."""
        if value is not None and not isinstance(value, Ciphertext):
            raise TypeError(f"{self.name} takes a sealed value here: use field.encrypt_value(pk, value).")
        return value

    def to_python(self, value: Any) -> Any:
        return value

    def _row(self, pk: str) -> str:
        return f"{self.model._meta.db_table}.{self.column}:{pk}"


class _OpensWhenRead:
    """Decrypts an encrypted field only when code reads the attribute, so that queries of many rows decrypt nothing."""

    def __init__(self, field: EncryptedJSONField) -> None:
        self.field = field

    def __get__(self, instance: models.Model | None, owner: type[models.Model]) -> Any:
        if instance is None:
            return self
        if self.field.attname not in instance.__dict__:
            instance.refresh_from_db(fields=[self.field.attname])
        value = instance.__dict__[self.field.attname]
        return self.field.decrypt_value(str(instance.pk), value) if isinstance(value, Ciphertext) else value

    def __set__(self, instance: models.Model, value: Any) -> None:
        instance.__dict__[self.field.attname] = value
