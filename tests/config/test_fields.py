"""Serializer fields accept only the declared JSON type."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from rest_framework import serializers

from config.api import fields
from config.api.serializers import StrictSerializer

NO_BOOLEANS = ["true", "True", "yes", "on", 1, 0, "1", "", [], {}]
NO_TEXTS = [1, 1.5, True, [], {}, ["a"], "", "a\0b", "a\ud800b"]
NO_INTEGERS = ["1", "", 1.0, 1.5, True, False, [1], {}, 2**63, -(2**63) - 1, 10**4000, float("inf")]
NO_TIMES = [
    *("2027-03-10T12:00:00", "2027-03-10", "2027-03-10 12:00:00Z", "2027-03-10T12:00Z", "10.3.2027", "now", ""),
    *("2027-02-30T12:00:00Z", "2027-03-10T25:00:00Z", "2027-03-10T12:60:00Z", "2027-03-10T12:00:61Z"),
    *("2027-03-10T12:00:00+25:00", "2027-03-10T12:00:00+01", "2027-03-10T12:00:00 Z", "2027-03-10T12:00:00,5Z"),
    *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "0000-01-01T00:00:00Z", "２０27-03-10T12:00:00Z"),
    *("2027-03-10T12:00:00Z\n", "2027-W10-3T12:00:00Z", 1804680000, 1.5, True, [], {}),
]
NO_ZONES = [
    *("localtime", "posixrules", "Factory", "right/UTC", "posix/Europe/Berlin", "Asia", "Europe", "europe/berlin"),
    *("UTC+1", "+01:00", "CEST", "../etc/passwd", "/etc/localtime", "Europe/Berlin\n", " UTC", "UTC\0", "", "z" * 10_000),
    *(1, True, [], {}),
]
NO_IDS = ["acc_" + "0" * 26, "wrk_", "wrk_" + "0" * 25, "WRK_" + "0" * 26, "wrk_" + "u" * 26, "", 1, [], "wrk_x" * 9]
NO_QUERY_INTEGERS = ["1.0", "1e3", " 1", "+1", "１", "", "true", "9" * 19, "9" * 20, "-" + "9" * 20]


class Inner(StrictSerializer):
    flag = fields.Boolean()


class Outer(StrictSerializer):
    inner = Inner()
    several = fields.StrictList(child=Inner(), required=False, max_length=2)
    times = fields.StrictList(child=fields.Timestamp(), required=False)


def table(field: serializers.Field, values: list[Any]) -> list[Any]:
    return [pytest.param(field, value, id=f"{type(field).__name__} {str(value)[:24]!r}") for value in values]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *table(fields.Boolean(), NO_BOOLEANS),
        *table(fields.QueryBoolean(), ["True", "1", "yes", "", "TRUE", "true "]),
        *table(fields.Text(), NO_TEXTS),
        *table(fields.Name(), [*NO_TEXTS, " ", "\t\n", "x" * 201]),
        *table(fields.Integer(), NO_INTEGERS),
        *table(fields.Integer(min_value=0), [-1, -(2**63)]),
        *table(fields.QueryInteger(), NO_QUERY_INTEGERS),
        *table(fields.Timestamp(), NO_TIMES),
        *table(fields.Timezone(), NO_ZONES),
        *table(fields.Identifier("wrk"), NO_IDS),
        *table(fields.Choice(choices=["a", "1", "True"]), ["b", 1, True, [], {}, "A", ""]),
        *table(fields.StringMap(), [[], "a", {"a": 1}, {"a": None}, {"a": {}}, {"a": "x" * 501}, {"x" * 501: "a"}]),
        *table(fields.StringMap(), [{str(n): "" for n in range(51)}]),
        *table(fields.StrictList(child=fields.Text()), ["a", {"a": 1}, {}, 1, [1], [["a"]]]),
    ],
)
def test_a_field_refuses_invalid_values(field: serializers.Field, value: Any) -> None:
    with pytest.raises(serializers.ValidationError):
        field.run_validation(value)


@pytest.mark.parametrize(
    "field", [fields.Boolean(), fields.Text(), fields.Integer(), fields.Timestamp(), Inner(), fields.StringMap()]
)
def test_null_is_refused_unless_it_is_declared(field: serializers.Field) -> None:
    with pytest.raises(serializers.ValidationError) as refusal:
        field.run_validation(None)

    assert refusal.value.get_codes() == ["null"]


@pytest.mark.parametrize(
    ("field", "value", "taken"),
    [
        (fields.Boolean(), True, True),
        (fields.Boolean(), False, False),
        (fields.QueryBoolean(), "true", True),
        (fields.QueryBoolean(), "false", False),
        (fields.Text(), "  unchanged \n", "  unchanged \n"),
        (fields.Text(allow_blank=True), "", ""),
        (fields.Name(), "  Grüße 🎈 ", "Grüße 🎈"),
        (fields.Integer(), 2**63 - 1, 2**63 - 1),
        (fields.Integer(), -(2**63), -(2**63)),
        (fields.QueryInteger(), "-12", -12),
        (fields.Timestamp(), "2027-03-10T12:00:00Z", datetime(2027, 3, 10, 12, tzinfo=UTC)),
        (fields.Timestamp(), "2027-03-10t12:00:00.5z", datetime(2027, 3, 10, 12, 0, 0, 500_000, tzinfo=UTC)),
        (fields.Timestamp(), "2027-03-10T12:00:00.123456789-05:30", datetime(2027, 3, 10, 17, 30, 0, 123_456, tzinfo=UTC)),
        (fields.Timezone(), "Europe/Berlin", "Europe/Berlin"),
        (fields.Timezone(), "UTC", "UTC"),
        (fields.Timezone(), "America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"),
        (fields.Identifier("wrk"), "wrk_" + "0" * 26, "wrk_" + "0" * 26),
        (fields.Choice(choices=["a"]), "a", "a"),
        (fields.StringMap(), {str(n): "x" * 500 for n in range(50)}, {str(n): "x" * 500 for n in range(50)}),
        (fields.StringMap(), {"a": ""}, {"a": ""}),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, serializers.Field) else str(each)[:24],
)
def test_a_field_accepts_valid_values(field: serializers.Field, value: Any, taken: Any) -> None:
    result = field.run_validation(value)

    assert (result, type(result)) == (taken, type(taken))


def test_answers_show_times_in_utc_with_a_z() -> None:
    shown = fields.Timestamp().to_representation(datetime(2027, 3, 10, 12, tzinfo=UTC))

    assert shown == "2027-03-10T12:00:00Z"


@pytest.mark.parametrize(
    ("data", "codes"),
    [
        ({}, {"inner": ["required"]}),
        ({"inner": None}, {"inner": ["null"]}),
        ({"inner": []}, {"inner": {"non_field_errors": ["wrong_type"]}}),
        ({"inner": {}}, {"inner": {"flag": ["required"]}}),
        ({"inner": {"flag": True, "more": 1}}, {"inner": {"more": "unknown_field"}}),
        ({"inner": {"flag": True}, "more": 1, "most": 2}, {"more": "unknown_field", "most": "unknown_field"}),
        ({"inner": {"flag": True}, "several": {}}, {"several": ["wrong_type"]}),
        ({"inner": {"flag": True}, "several": [{"flag": True}] * 3}, {"several": ["max_length"]}),
        ({"inner": {"flag": True}, "several": [{"flag": True}, 1]}, {"several": {1: {"non_field_errors": ["wrong_type"]}}}),
        ({"inner": {"flag": True}, "times": ["now"]}, {"times": {0: ["invalid"]}}),
    ],
)
def test_an_object_refuses_unknown_fields(data: dict[str, Any], codes: dict[str, Any]) -> None:
    form = Outer(data=data)

    assert not form.is_valid()
    found: Any = form.errors
    assert {name: _codes(detail) for name, detail in found.items()} == codes


def _codes(detail: Any) -> Any:
    if isinstance(detail, dict):
        return {name: _codes(inner) for name, inner in detail.items()}
    return [_codes(inner) for inner in detail] if isinstance(detail, list) else detail.code
