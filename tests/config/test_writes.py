"""write_all_or_return_failed writes everything or nothing, in one statement on PostgreSQL."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from billing.models import MonthCounter
from config.api.models import IdempotencyRecord
from config.db import writes
from config.db.writes import (
    Write,
    build_counter_upsert_write,
    build_insert_or_replace_write,
    build_insert_writes,
    build_limited_counter_add_write,
    write_all_or_return_failed,
)
from tests.statements import statements
from workspaces.models import User

MARCH = date(2027, 3, 1)
KEY = ("holder_id", "month")
CAP = ((("held_cents", "settled_cents"), 10),)

pytestmark = pytest.mark.django_db


def counter(holder: str = "wrk_1") -> MonthCounter:
    return MonthCounter(holder_id=holder, month=MARCH)


def held(holder: str = "wrk_1") -> int:
    return MonthCounter.objects.get(holder_id=holder).held_cents


def add(cents: int, holder: str = "wrk_1") -> Write:
    return build_limited_counter_add_write(counter(holder), KEY, {"held_cents": cents}, CAP, subject=holder)


def record(**fields: object) -> IdempotencyRecord:
    now = timezone.now()
    return IdempotencyRecord(**{"id": "key", "operation": "posts.create", "expires_at": now + timedelta(hours=1), **fields})


def replace_expired(row: IdempotencyRecord) -> Write:
    now = IdempotencyRecord._meta.get_field("expires_at").get_db_prep_save(timezone.now(), transaction.get_connection())
    return build_insert_or_replace_write(row, replace_if="{table}.expires_at <= %s", params=[now], subject="key")


def test_rows_of_several_tables_are_written_with_their_values(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    users = [User(username=f"p{n}", email=f"p{n}@example.com", display_name="Zoë 🎈") for n in range(3)]
    entry = record(body={"list": [1, None, "ü"]}, lease_until=None, status=201)
    with django_assert_num_queries(statements(sqlite=2, postgresql=1)):
        assert write_all_or_return_failed([*build_insert_writes(users), *build_insert_writes([entry])]) is None

    assert list(User.objects.order_by("username").values_list("id", "display_name")) == [(u.id, "Zoë 🎈") for u in users]
    stored = IdempotencyRecord.objects.get()
    assert (stored.body, stored.status, stored.expires_at) == (entry.body, 201, entry.expires_at)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a transaction"])
def test_nothing_is_written_if_one_write_fails(inside: bool) -> None:
    MonthCounter.objects.bulk_create([counter(), counter("wrk_2")])

    def write() -> Write | None:
        return write_all_or_return_failed([*build_insert_writes([record()]), add(4), add(11, "wrk_2"), add(1, "wrk_3")])

    if inside:
        with transaction.atomic():
            failed = write()
    else:
        failed = write()

    assert failed is not None
    assert failed.subject == "wrk_2"
    assert (held(), held("wrk_2"), IdempotencyRecord.objects.count()) == (0, 0, 0)


def test_a_counter_stays_within_the_limit_of_the_sum_of_its_fields() -> None:
    MonthCounter.objects.create(holder_id="wrk_1", month=MARCH, settled_cents=4)

    assert write_all_or_return_failed([add(6)]) is None
    assert write_all_or_return_failed([add(1)]) is not None
    assert held() == 6


def test_a_missing_counter_fails() -> None:
    failed = write_all_or_return_failed([add(1)])

    assert failed is not None
    assert failed.subject == "wrk_1"


def test_a_counter_is_inserted_or_added_to() -> None:
    for cents in (2, 3):
        first = MonthCounter(holder_id="wrk_1", month=MARCH, held_cents=cents)
        assert write_all_or_return_failed([build_counter_upsert_write(first, KEY, ["held_cents"])]) is None
    assert held() == 5


def test_without_limits_a_missing_counter_is_left_out() -> None:
    assert (
        write_all_or_return_failed(
            [build_limited_counter_add_write(counter(), KEY, {"held_cents": 1}), *build_insert_writes([record()])]
        )
        is None
    )
    assert (MonthCounter.objects.count(), IdempotencyRecord.objects.count()) == (0, 1)


def test_a_row_is_replaced_only_if_the_condition_holds() -> None:
    assert write_all_or_return_failed([replace_expired(record(fingerprint="first", expires_at=timezone.now()))]) is None
    assert write_all_or_return_failed([replace_expired(record(fingerprint="second"))]) is None
    failed = write_all_or_return_failed(
        [replace_expired(record(fingerprint="third")), *build_insert_writes([record(id="other")])]
    )

    assert failed is not None
    assert failed.subject == "key"
    assert [(each.id, each.fingerprint) for each in IdempotencyRecord.objects.all()] == [("key", "second")]


def test_more_values_than_one_statement_takes_are_still_all_or_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writes, "ROWS_PER_STATEMENT", 3)
    MonthCounter.objects.bulk_create([counter()])
    records = [record(id=f"key-{n}") for n in range(10)]

    assert write_all_or_return_failed([*build_insert_writes(records), add(11)]) is not None
    assert IdempotencyRecord.objects.count() == 0
    assert write_all_or_return_failed([*build_insert_writes(records), add(10)]) is None
    assert (IdempotencyRecord.objects.count(), held()) == (10, 10)


def test_errors_of_the_database_are_raised() -> None:
    write_all_or_return_failed(build_insert_writes([record()]))

    with pytest.raises(IntegrityError), transaction.atomic():
        write_all_or_return_failed([*build_insert_writes([record()]), *build_insert_writes([record(id="other")])])


def test_no_writes_are_no_failure() -> None:
    assert write_all_or_return_failed([]) is None
