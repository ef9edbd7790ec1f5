"""Values encrypted at rest, each bound to what it belongs to.

Fernet has no associated data, so the sealed text carries the name of its owner, such as a row; a ciphertext copied to
another does not open. `ENCRYPTION_KEYS` lists the keys: the first seals, all open, which is
how keys are rotated.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class SealedValueError(Exception):
    """A stored value does not open: its key is gone, or it was moved from another row."""


class Sealed(str):
    """Ciphertext as it stands in the database."""

    __slots__ = ()


def seal(owner: str, value: Any) -> Sealed:
    """Any JSON value as ciphertext that opens for this owner only."""
    text = json.dumps({"row": owner, "value": value}, separators=(",", ":"))
    return Sealed(fernet(tuple(settings.ENCRYPTION_KEYS)).encrypt(text.encode()).decode())


def open_sealed(owner: str, sealed: str) -> Any:
    """The value that was sealed for this owner. Raises SealedValueError."""
    try:
        content = json.loads(fernet(tuple(settings.ENCRYPTION_KEYS)).decrypt(sealed.encode()))
    except InvalidToken as error:
        raise SealedValueError(f"No key opens {owner}.") from error
    if content["row"] != owner:
        raise SealedValueError(f"The value of {owner} belongs to another row.")
    return content["value"]


@lru_cache(maxsize=8)
def fernet(keys: tuple[str, ...]) -> MultiFernet:
    """What seals with the first of these keys and opens with all."""
    return MultiFernet([Fernet(key) for key in keys])
