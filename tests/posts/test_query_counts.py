"""Number of database queries on the hot paths, pinned so that additional queries are noticed.

Tests run inside a transaction, so each transaction of the service adds two statements: SAVEPOINT and RELEASE.
"""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.models import ConnectedAccount
from posts.models import PostTarget
from posts.publishing.attempts import claim_targets
from tests.conftest import ApiClient
from tests.posts.calls import batch
from tests.posts.publishing.worker import publish_claimed
from tests.posts.rows import TOMORROW, body_for, create
from tests.statements import statements


@pytest.fixture
def used(api: ApiClient, clock: Any) -> ApiClient:
    """A client whose key was used within the last minute, so that its use is not written again."""
    assert api.get("/capabilities").status_code == 200
    return api


@pytest.mark.parametrize(
    ("key", "number"),
    [({}, statements(sqlite=6, postgresql=3)), ({"idempotency_key": "k"}, statements(sqlite=9, postgresql=5))],
    ids=["plain", "with a key"],
)
@pytest.mark.parametrize("targets", [1, 3])
def test_queries_of_scheduling_one_post(
    used: ApiClient,
    accounts: list[ConnectedAccount],
    django_assert_num_queries: DjangoAssertNumQueries,
    targets: int,
    key: dict[str, str],
    number: int,
) -> None:
    with django_assert_num_queries(number):
        answer = used.post("/posts", body_for(*accounts[:targets], scheduled_at=TOMORROW), **key)
    assert answer.status_code == 201


def test_queries_of_scheduling_a_batch(
    used: ApiClient, accounts: list[ConnectedAccount], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    """The same number for any number of posts."""
    posts = [body_for(*accounts, text=f"Number {number}", scheduled_at=TOMORROW) for number in range(10)]
    with django_assert_num_queries(statements(sqlite=8, postgresql=5)):
        answer = batch(used, *posts)
    assert answer.status_code == 201


def test_queries_of_reading_a_post(
    used: ApiClient, accounts: list[ConnectedAccount], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    group = create(used, *accounts)
    with django_assert_num_queries(2):
        assert used.get(f"/posts/{group['id']}").status_code == 200


@pytest.mark.parametrize("targets", [1, 3])
def test_queries_of_publishing_one_target(
    used: ApiClient, accounts: list[ConnectedAccount], django_assert_num_queries: DjangoAssertNumQueries, targets: int
) -> None:
    create(used, *accounts[:targets])
    with django_assert_num_queries(3):
        [claimed] = claim_targets(PostTarget.objects.filter(platform="bluesky"), limit=1)
    with django_assert_num_queries(statements(sqlite=7, postgresql=5)):
        publish_claimed(claimed)


def test_queries_of_publishing_a_real_target_in_two_steps(
    used: ApiClient, telegram_account: ConnectedAccount, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    """One query for the second step, and one more than in the sandbox for the money, once the month's counters exist."""
    for text in ("The first of the month", "The second"):
        create(used, telegram_account, text=text)
    first, second = claim_targets(PostTarget.objects.all(), limit=2)
    publish_claimed(first)
    with django_assert_num_queries(statements(sqlite=12, postgresql=7)):
        publish_claimed(second)
