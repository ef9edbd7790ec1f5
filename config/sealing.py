"""Seals (encrypts) JSON values for storage; a value can be decrypted only for its owner, such as a database row.

Fernet has no associated data, so the encrypted text contains its owner's name: a ciphertext copied to another row does not
decrypt. The first key of `ENCRYPTION_KEYS` encrypts and all keys decrypt, so keys can be rotated.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class SealedValueError(Exception):
    """The error when a sealed value cannot be decrypted: its key is missing, or it belongs to another database row."""


class Sealed(str):
    """A sealed value: the ciphertext of a JSON value, as the database stores it."""

    __slots__ = ()


def seal(owner: str, value: Any) -> Sealed:
    """Encrypt a JSON value so that it can be decrypted only for this owner, such as a database row."""
    text = json.dumps({"row": owner, "value": value}, separators=(",", ":"))
    return Sealed(fernet(tuple(settings.ENCRYPTION_KEYS)).encrypt(text.encode()).decode())


def open_sealed(owner: str, sealed: str) -> Any:
    """Decrypt a sealed JSON value that was encrypted for this owner. Raises SealedValueError."""
    try:
        content = json.loads(fernet(tuple(settings.ENCRYPTION_KEYS)).decrypt(sealed.encode()))
    except InvalidToken as error:
        raise SealedValueError(f"No key decrypts {owner}.") from error
    if content["row"] != owner:
        raise SealedValueError(f"The value of {owner} belongs to another row.")
    return content["value"]


@lru_cache(maxsize=8)
def fernet(keys: tuple[str, ...]) -> MultiFernet:
    """Return the cipher (Fernet) for sealed values: it encrypts with the first key and decrypts with all keys."""
    return MultiFernet([Fernet(key) for key in keys])
