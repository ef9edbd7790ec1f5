"""Claims of due rows: one worker at a time, and until the lease expires."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.db.models import QuerySet

from config.jobs.claims import claim_due, claimed_row_queryset, release_claims, unclaimed_due_rows
from posts.models import PostGroup, PostTarget
from tests import factories
from tests.in_threads import in_threads

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def clock() -> Any:
    with time_machine.travel(NOON, tick=False) as moved:
        yield moved


def rows() -> QuerySet[PostTarget]:
    return PostTarget.objects.all()


def make(*seconds: float | None) -> list[PostTarget]:
    """Create rows due at these seconds after noon (None: never), each in its own group."""
    account = factories.AccountFactory.create()
    group = {"workspace": account.workspace, "status": "publishing", "created_by_type": "user", "trace_id": "0" * 32}
    groups = PostGroup.objects.bulk_create([PostGroup(**group) for _ in seconds])
    return PostTarget.objects.bulk_create(
        PostTarget(
            group=groups[n],
            account=account,
            platform=account.platform,
            position=0,
            due_at=None if after is None else NOON + timedelta(seconds=after),
        )
        for n, after in enumerate(seconds)
    )


def claim(limit: int = 10) -> list[PostTarget]:
    return claim_due(rows(), limit=limit, lease=MINUTE)


def test_due_rows_are_claimed_earliest_first(db: None, clock: Any) -> None:
    late, later, _, at_noon = make(-30, -10, 0.001, 0)
    make(None)

    assert [row.pk for row in claim(2)] == [late.pk, later.pk]
    assert [row.pk for row in claim()] == [at_noon.pk]
    assert claim() == []


def test_a_claim_stores_its_lease_and_fence(db: None, clock: Any) -> None:
    make(0)
    claimed = claim()[0]
    stored = rows().get()

    assert (claimed.fence, claimed.lease_until) == (1, NOON + MINUTE)
    assert (stored.fence, stored.lease_until) == (1, NOON + MINUTE)
    assert stored.due_at == NOON


def test_after_the_lease_another_worker_claims_the_row_and_the_first_cannot_write_it(db: None, clock: Any) -> None:
    make(0)
    first = claim()[0]
    clock.shift(MINUTE - timedelta(microseconds=1))
    assert claim() == []
    clock.shift(timedelta(microseconds=1))
    second = claim()[0]

    assert (first.pk, first.fence, second.fence) == (second.pk, 1, 2)
    assert claimed_row_queryset(rows(), first).update(status="published", due_at=None) == 0
    assert claimed_row_queryset(rows(), second).update(status="failed", due_at=None) == 1
    assert rows().get().status == "failed"


def test_a_released_row_is_due_at_once(db: None, clock: Any) -> None:
    make(0, 0)
    claimed = claim()
    release_claims(claimed[:1])

    assert [row.pk for row in unclaimed_due_rows(rows())] == [claimed[0].pk]
    assert [row.fence for row in claim()] == [2]


def test_a_worker_that_lost_its_claim_cannot_release_the_row(db: None, clock: Any) -> None:
    make(0)
    first = claim()
    clock.shift(MINUTE)
    second = claim()
    release_claims(first)

    assert rows().get().lease_until == second[0].lease_until


@pytest.mark.parametrize("limit", [0, -3])
def test_a_limit_of_zero_or_less_claims_no_rows(db: None, clock: Any, limit: int) -> None:
    make(0)

    assert claim(limit) == []
    assert rows().get().fence == 0


def test_an_idle_poll_is_one_query(db: None, clock: Any, django_assert_num_queries: Any) -> None:
    make(60)
    with django_assert_num_queries(1):
        claim()


@pytest.mark.django_db(transaction=True)
def test_no_row_is_claimed_by_two_workers(clock: Any) -> None:
    make(*[0.0] * 120)

    def work(n: int) -> list[str]:
        mine: list[str] = []
        while claimed := claim(7):
            mine += [row.pk for row in claimed]
        return mine

    claims = in_threads(8, work)

    assert sorted(pk for mine in claims for pk in mine) == sorted(rows().values_list("pk", flat=True))
    assert set(rows().values_list("fence", flat=True)) == {1}


def test_a_row_that_another_worker_claims_before_it_is_loaded_is_left_to_that_worker(db: None, clock: Any) -> None:
    """A worker may sleep between claiming a row and loading it, longer than its lease."""
    lost, kept = make(0, 1)
    clock.shift(1)
    statements: list[str] = []

    def claim_again_before_loading(execute: Any, sql: str, *arguments: Any) -> Any:
        statements.append(sql)
        if len(statements) > 1 and "RETURNING" in statements[-2]:
            rows().filter(pk=lost.pk).update(fence=2)
        return execute(sql, *arguments)

    with connection.execute_wrapper(claim_again_before_loading):
        claimed = claim()

    assert (rows().get(pk=lost.pk).fence, [row.pk for row in claimed]) == (2, [kept.pk])
