"""The strict field types of the API's serializers, which never convert a value from another JSON type."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import available_timezones

from django.core.validators import ProhibitNullCharactersValidator
from django.utils.dateparse import parse_datetime
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.validators import ProhibitSurrogateCharactersValidator

from config.db.ids import ALPHABET, is_id

MAX_INT64 = 2**63 - 1
_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")
_LOCAL_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.IGNORECASE | re.ASCII)
# Without zone files that are not IANA zones: the machine's own zone, POSIX rules and leap-second zones.
TIMEZONES = frozenset(
    zone
    for zone in available_timezones()
    if zone not in ("localtime", "posixrules", "Factory") and not zone.startswith(("right/", "posix/"))
)


class Text(serializers.CharField):
    """A strict serializer field for a JSON string, which is stored unchanged: spaces at its ends are not removed."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"trim_whitespace": False, **kwargs})
        # The check below replaces these, one of which is a loop in Python over all characters of the text.
        replaced = (ProhibitNullCharactersValidator, ProhibitSurrogateCharactersValidator)
        self.validators = [each for each in self.validators if not isinstance(each, replaced)]

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise serializers.ValidationError("Must be a string.", code="wrong_type")
        if _NOT_STORABLE.search(data):  # the parser checks JSON bodies; this covers query parameters
            raise serializers.ValidationError("Must not contain NUL or half of a surrogate pair.", code="invalid")
        return super().to_internal_value(data)


class Name(Text):
    """A strict serializer field for a name that people read: by default 1 to 200 characters, stored without outer spaces."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"max_length": 200, **kwargs})

    def to_internal_value(self, data: Any) -> str:
        value = super().to_internal_value(data).strip()
        if not value and not self.allow_blank:
            self.fail("blank")
        return value


class Identifier(Text):
    """A strict serializer field for an id with a given prefix, such as `acc_01jd…`."""

    def __init__(self, prefix: str, **kwargs: Any) -> None:
        self.prefix = prefix
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> str:
        value = super().to_internal_value(data)
        if not is_id(value, self.prefix):
            raise serializers.ValidationError(f"Must be an id that begins with {self.prefix}_.", code="invalid_id")
        return value

    @property
    def pattern(self) -> str:
        return f"^{self.prefix}_[0-7][{ALPHABET}]{{25}}$"


@extend_schema_field(OpenApiTypes.BOOL)
class Boolean(serializers.Field):
    """A strict serializer field for JSON true or false; it refuses strings and numbers."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            raise serializers.ValidationError("Must be true or false.", code="wrong_type")
        return data

    def to_representation(self, value: Any) -> bool:
        return bool(value)


class Integer(serializers.IntegerField):
    """A strict serializer field for a JSON integer of at most 64 bits."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"min_value": -MAX_INT64 - 1, "max_value": MAX_INT64, **kwargs})

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int):
            raise serializers.ValidationError("Must be a whole number.", code="wrong_type")
        return data


class LocalTime(Text):
    """A strict serializer field for a local time without a zone, to the minute, such as `2027-01-31T09:00`."""

    def to_internal_value(self, data: Any) -> str:
        value = super().to_internal_value(data)
        with suppress(ValueError):
            if _LOCAL_TIME.fullmatch(value) and datetime.fromisoformat(value):
                return value
        raise serializers.ValidationError("Must be a local time, such as 2027-01-31T09:00.", code="invalid")


class Timestamp(serializers.DateTimeField):
    """A strict serializer field for an RFC 3339 time with a UTC offset; answers are in UTC and end in Z."""

    def to_internal_value(self, value: Any) -> datetime:
        if not isinstance(value, str) or not _RFC3339.fullmatch(value):
            raise serializers.ValidationError(
                "Must be an RFC 3339 time with an offset, such as 2027-01-31T09:00:00Z.", code="invalid"
            )
        try:
            parsed = parse_datetime(value.upper())
            if parsed is None:
                raise ValueError
            return parsed.astimezone(UTC)
        except (ValueError, OverflowError) as error:
            raise serializers.ValidationError("This time does not exist.", code="invalid") from error


class Date(serializers.DateField):
    """A strict serializer field for a calendar day, such as 2027-01-31."""

    def to_internal_value(self, value: Any) -> date:
        try:
            if not isinstance(value, str) or not _DAY.fullmatch(value):
                raise ValueError
            return date.fromisoformat(value)
        except ValueError as error:
            raise serializers.ValidationError("Must be a day such as 2027-01-31.", code="invalid") from error


class Timezone(Text):
    """A strict serializer field for the name of an IANA time zone."""

    def to_internal_value(self, data: Any) -> str:
        value = super().to_internal_value(data)
        if value not in TIMEZONES:
            raise serializers.ValidationError("Must be an IANA time zone, such as Europe/Berlin.", code="invalid")
        return value


class Choice(serializers.ChoiceField):
    """A strict serializer field for one string of a fixed set."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise serializers.ValidationError("Must be a string.", code="wrong_type")
        return super().to_internal_value(data)


class StrictList(serializers.ListField):
    """A strict serializer field for a JSON array."""

    def to_internal_value(self, data: Any) -> list[Any]:
        if not isinstance(data, list):
            raise serializers.ValidationError("Must be an array.", code="wrong_type")
        return super().to_internal_value(data)


class StringMap(serializers.DictField):
    """A strict serializer field for a JSON object of strings: at most 50 entries of 500 characters."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=Text(max_length=500, allow_blank=True), **kwargs)

    def to_internal_value(self, data: Any) -> dict[str, str]:
        if not isinstance(data, dict):
            raise serializers.ValidationError("Must be an object of strings.", code="wrong_type")
        if len(data) > 50 or any(len(str(key)) > 500 for key in data):
            raise serializers.ValidationError("Takes at most 50 entries with keys of 500 characters.", code="too_long")
        return super().to_internal_value(data)


class QueryInteger(Integer):
    """A strict serializer field for an integer in a query string."""

    def to_internal_value(self, data: Any) -> int:
        if not isinstance(data, str) or not re.fullmatch(r"-?[0-9]{1,19}", data):
            raise serializers.ValidationError("Must be a whole number.", code="wrong_type")
        return super().to_internal_value(int(data))


class QueryBoolean(Boolean):
    """A strict serializer field for `true` or `false` in a query string."""

    def to_internal_value(self, data: Any) -> bool:
        return super().to_internal_value({"true": True, "false": False}.get(data, data))


class FormBoolean(Boolean):
    """A strict serializer field for `true` or `false` in an upload's multipart form; `True` and `False` are accepted too."""

    def to_internal_value(self, data: Any) -> bool:
        return super().to_internal_value({"true": True, "false": False}.get(data.lower(), data))
