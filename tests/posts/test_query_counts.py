"""What the hot paths ask of the database, pinned: who adds a statement sees it here."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.models import ConnectedAccount
from config.db.due import claim_due
from posts.models import PostTarget
from posts.publishing.engine import LEASE, publish_target
from tests.conftest import ApiClient
from tests.posts.rows import TOMORROW, body_for, create


@pytest.fixture(autouse=True)
def _warm(api: ApiClient, account: ConnectedAccount) -> None:
    """The key's first use of the minute is written down once."""
    assert api.get("/accounts?workspace_id=" + account.workspace_id).status_code == 200


@pytest.mark.parametrize("number", [1, 3])
def test_scheduling(
    api: ApiClient,
    accounts: list[ConnectedAccount],
    clock: Any,
    django_assert_num_queries: DjangoAssertNumQueries,
    number: int,
) -> None:
    api.get("/capabilities")
    with django_assert_num_queries(0):
        answer = api.post("/posts", body_for(*accounts[:number], scheduled_at=TOMORROW), idempotency_key="k")
    assert answer.status_code == 201


def test_reading(
    api: ApiClient, accounts: list[ConnectedAccount], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    group = create(api, *accounts)
    with django_assert_num_queries(0):
        api.get(f"/posts/{group['id']}")


@pytest.mark.parametrize("number", [1, 2])
def test_publishing_one_target(
    api: ApiClient,
    telegram_account: ConnectedAccount,
    account: ConnectedAccount,
    django_assert_num_queries: DjangoAssertNumQueries,
    number: int,
) -> None:
    create(api, *[telegram_account, account][:number])
    with django_assert_num_queries(0):
        [claimed] = claim_due(PostTarget.objects.filter(platform="telegram"), limit=1, lease=LEASE)
    with django_assert_num_queries(0):
        publish_target(claimed)
