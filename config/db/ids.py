"""Prefixed ids (TypeIDs), such as `pgr_01jd…`: a prefix, `_`, and a UUIDv7 in Crockford's base32.

They sort by time, so index inserts stay local and "newest first" is "highest id first" (TypeID specification 0.3).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import uuid_utils
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
ID_LENGTH = 30
_PAIRS = [high + low for high in ALPHABET for low in ALPHABET]
_SUFFIX = re.compile(rf"[0-7][{ALPHABET}]{{25}}")


def new_id(prefix: str) -> str:
    """Create a new prefixed id, such as `pgr_01jd…` for the prefix `pgr`."""
    return _spelled(prefix, uuid_utils.uuid7().int)


def lowest_id_at(prefix: str, at: datetime) -> str:
    """Return the lowest prefixed id that could be created at this time, for queries of rows created since then."""
    return _spelled(prefix, max(0, int(at.timestamp() * 1000)) << 80)


def creation_time_of_id(identifier: str) -> datetime:
    """Return the creation time that a prefixed id contains, in UTC, to the millisecond."""
    milliseconds = 0
    # 130 bits are spelled, the first two of them 0, the next 48 the time.
    for sign in identifier.rpartition("_")[2][:10]:
        milliseconds = milliseconds << 5 | ALPHABET.index(sign)
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def is_id(value: object, prefix: str) -> bool:
    """Return whether a value is a well-formed prefixed id with this prefix."""
    return isinstance(value, str) and value.startswith(f"{prefix}_") and bool(_SUFFIX.fullmatch(value[len(prefix) + 1 :]))


class PrefixedIdField(models.CharField):
    """The model field for a primary key that generates prefixed ids: `id = PrefixedIdField("wrk")`."""

    def __init__(self, prefix: str, **kwargs: Any) -> None:
        self.prefix = prefix
        super().__init__(**{**kwargs, "primary_key": True, "editable": False, "max_length": ID_LENGTH})

    def deconstruct(self) -> tuple[str, str, list[Any], dict[str, Any]]:
        name, path, _, kwargs = super().deconstruct()
        for fixed in ("primary_key", "editable", "max_length"):
            kwargs.pop(fixed, None)
        return name, path, [self.prefix], kwargs

    def db_type(self, connection: BaseDatabaseWrapper) -> str | None:
        """Return the column type of prefixed ids: `character varying`, because Django adds LIKE indexes to `varchar`."""
        return f"character varying({ID_LENGTH})" if connection.vendor == "postgresql" else super().db_type(connection)

    def get_default(self) -> str:
        return new_id(self.prefix)

    def has_default(self) -> bool:
        return True


def _spelled(prefix: str, value: int) -> str:
    return prefix + "_" + "".join(_PAIRS[value >> shift & 1023] for shift in range(120, -1, -10))
