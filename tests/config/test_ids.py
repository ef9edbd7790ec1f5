"""Identifiers: a prefix and a UUIDv7 in base32."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest

from config.db.ids import ALPHABET, creation_time_of_id, is_id, lowest_id_at, new_id
from workspaces.models import Workspace


def as_uuid(value: str) -> uuid.UUID:
    number = 0
    for character in value.partition("_")[2]:
        number = number * 32 + ALPHABET.index(character)
    return uuid.UUID(int=number)


def test_an_id_is_a_uuid_of_version_7() -> None:
    made = as_uuid(new_id("pgr"))

    assert (made.version, made.variant) == (7, uuid.RFC_4122)


def test_ids_are_unique_and_sort_by_creation() -> None:
    made = [new_id("tgt") for _ in range(10_000)]

    assert len(set(made)) == 10_000
    assert sorted(made) == made


def test_the_creation_time_is_read_from_an_id() -> None:
    for at in (datetime(1970, 1, 1, tzinfo=UTC), datetime(2027, 3, 10, 12, 0, 0, 7000, tzinfo=UTC)):
        assert creation_time_of_id(lowest_id_at("pgr", at)) == at
    assert abs(creation_time_of_id(new_id("pgr")) - datetime.now(UTC)) < timedelta(minutes=1)


def test_first_id_lies_between_the_ids_created_before_and_after_the_time() -> None:
    made = new_id("log")
    at = datetime.fromtimestamp((as_uuid(made).int >> 80) / 1000, UTC)

    assert lowest_id_at("log", at) <= made < lowest_id_at("log", at + timedelta(milliseconds=1))
    assert is_id(lowest_id_at("log", at), "log")


def test_ids_of_other_prefixes_are_not_accepted() -> None:
    made = new_id("wrk")

    assert len(made) == 30
    assert is_id(made, "wrk")
    assert not is_id(made, "agt")


@pytest.mark.parametrize(
    "value",
    [
        *(None, 1, "", "wrk", "wrk_", "_" + "0" * 26, "wrk_" + "0" * 25, "wrk_" + "0" * 27),
        "wrk_8" + "0" * 25,  # 130 bits
        *("wrk_" + "0" * 25 + character for character in "ilouA-_ \n\0"),
        *("WRK_" + "0" * 26, " wrk_" + "0" * 26, "wrk_" + "0" * 26 + "\n"),
    ],
)
def test_malformed_ids_are_not_accepted(value: object) -> None:
    assert not is_id(value, "wrk")


def test_a_row_has_its_final_id_before_it_is_saved(workspace: Workspace) -> None:
    row = Workspace(name="A", slug="a", owner_user=workspace.owner_user)
    made = row.id
    row.save()

    assert is_id(made, "wrk")
    assert Workspace.objects.get(slug="a").id == made
