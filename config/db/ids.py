"""Prefixed identifiers: TypeIDs, that is a prefix, `_`, and a UUIDv7 in 26 characters of Crockford's base32.

They sort by time, so B-tree inserts stay local and "newest first" is "highest id first" (TypeID specification 0.3).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import uuid_utils
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH = 30
_PAIRS = [high + low for high in ALPHABET for low in ALPHABET]
_SUFFIX = re.compile(rf"[0-7][{ALPHABET}]{{25}}")


def new_id(prefix: str) -> str:
    """A new identifier such as `pgr_01jd…` for the prefix `pgr`."""
    return _spelled(prefix, uuid_utils.uuid7().int)


def first_id(prefix: str, at: datetime) -> str:
    """The lowest identifier that could be made at this time (RFC 9562, 5.7: Unix milliseconds stand in front)."""
    return _spelled(prefix, max(0, int(at.timestamp() * 1000)) << 80)


def made_at(identifier: str) -> datetime:
    """When this identifier was made, to the millisecond, in UTC."""
    milliseconds = 0
    for sign in identifier.rpartition("_")[2][
        :10
    ]:  # 130 bits are spelled, the first two of them 0, the next 48 the time
        milliseconds = milliseconds << 5 | ALPHABET.index(sign)
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


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

    def db_type(self, connection: BaseDatabaseWrapper) -> str | None:
        """As CharField, by its full name on PostgreSQL: to what is called varchar Django adds an index for LIKE, to this
        column and to every foreign key to it, and nobody asks for a part of an id."""
        return f"character varying({LENGTH})" if connection.vendor == "postgresql" else super().db_type(connection)

    def get_default(self) -> str:
        return new_id(self.prefix)

    def has_default(self) -> bool:
        return True


def _spelled(prefix: str, value: int) -> str:
    return prefix + "_" + "".join(_PAIRS[value >> shift & 1023] for shift in range(120, -1, -10))
