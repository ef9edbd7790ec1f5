"""Prefixed identifiers: TypeIDs, that is a prefix, `_`, and a UUIDv7 in 26 characters of Crockford's base32.

They sort by time, so B-tree inserts stay local and "newest first" is "highest id first" (TypeID specification 0.3).
"""

from __future__ import annotations

import re
from typing import Any

import uuid_utils
from django.db import models

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH = 30
_PAIRS = [high + low for high in ALPHABET for low in ALPHABET]
_SUFFIX = re.compile(rf"[0-7][{ALPHABET}]{{25}}")


def new_id(prefix: str) -> str:
    """A new identifier such as `pgr_01jd…` for the prefix `pgr`."""
    value = uuid_utils.uuid7().int
    return prefix + "_" + "".join(_PAIRS[value >> shift & 1023] for shift in range(120, -1, -10))


def is_id(value: object, prefix: str) -> bool:
    """Whether the value has the form of an identifier with this prefix."""
    return (
        isinstance(value, str) and value.startswith(f"{prefix}_") and bool(_SUFFIX.fullmatch(value[len(prefix) + 1 :]))
    )


class PrefixedIdField(models.CharField):
    """A primary key that makes its own value: `id = PrefixedIdField("wrk")`."""

    def __init__(self, prefix: str, **kwargs: Any) -> None:
        self.prefix = prefix
        super().__init__(**{**kwargs, "primary_key": True, "editable": False, "max_length": LENGTH})

    def deconstruct(self) -> tuple[str, str, list[Any], dict[str, Any]]:
        name, path, _, kwargs = super().deconstruct()
        for fixed in ("primary_key", "editable", "max_length"):
            kwargs.pop(fixed, None)
        return name, path, [self.prefix], kwargs

    def get_default(self) -> str:
        return new_id(self.prefix)

    def has_default(self) -> bool:
        return True
