"""Encrypts JSON values for storage in the database ("sealing"), each bound to the database row to which it belongs.

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
    """Raised when a sealed JSON value cannot be opened: its encryption key is missing, or it is another row's value."""


class Ciphertext(str):
    """A sealed JSON value: the encrypted text that `encrypt_for_row` returns and the database stores."""

    __slots__ = ()


def encrypt_for_row(owner: str, value: Any) -> Ciphertext:
    """Seal a JSON value by encrypting it; `decrypt_for_row` needs the same `owner`, a text that identifies the row."""
    text = json.dumps({"row": owner, "value": value}, separators=(",", ":"))
    return Ciphertext(fernet_for_keys(tuple(settings.ENCRYPTION_KEYS)).encrypt(text.encode()).decode())


def decrypt_for_row(owner: str, sealed: str) -> Any:
    """Decrypt a JSON value that was sealed for this `owner`. Raises SealedValueError if key or owner is wrong."""
    try:
        content = json.loads(fernet_for_keys(tuple(settings.ENCRYPTION_KEYS)).decrypt(sealed.encode()))
    except InvalidToken as error:
        raise SealedValueError(f"No key decrypts {owner}.") from error
    if content["row"] != owner:
        raise SealedValueError(f"The value of {owner} belongs to another row.")
    return content["value"]


@lru_cache(maxsize=8)
def fernet_for_keys(keys: tuple[str, ...]) -> MultiFernet:
    """Return the cipher for sealing JSON values: it encrypts with the first Fernet key and decrypts with all."""
    return MultiFernet([Fernet(key) for key in keys])
