"""The list of all posts, including drafts and rejected posts."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from accounts.models import ConnectedAccount
from posts.models import PostGroup, PostTarget
from tests.conftest import ApiClient
from tests.factories import AccountFactory
from tests.posts.dashboard.dashboard import Dashboard, words
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, create, group_with_target


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, ["Draft one", "Planned one"]),
        ({"status": "draft"}, ["Draft one"]),
        ({"status": "scheduled"}, ["Planned one"]),
        ({"status": "no such state"}, ["Draft one", "Planned one"]),
        ({"status": "failed"}, []),
    ],
)
def test_posts_are_filtered_by_status(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount, query: dict[str, str], found: list[str]
) -> None:
    create(api, account, text="Draft one", draft=True)
    create(api, account, text="Planned one", scheduled_at=TOMORROW)

    shown = words(dashboard.get("posts", **query))

    assert [text for text in ("Draft one", "Planned one") if text in shown] == found
    assert ("No posts found." in shown) is not bool(found)


def test_the_list_is_paginated(dashboard: Dashboard) -> None:
    made = PostGroup.objects.bulk_create(
        PostGroup(workspace=dashboard.workspace, status="draft", created_by_type="user", trace_id="0" * 32) for _ in range(51)
    )
    first = min(group.id for group in made)

    page = dashboard.get("posts", status="draft").content.decode()
    assert first not in page
    cursor = page.partition("cursor=")[2].partition('"')[0]
    assert first in dashboard.get("posts", status="draft", cursor=cursor).content.decode()


def test_posts_are_found_by_text(dashboard: Dashboard, api: ApiClient, account: ConnectedAccount) -> None:
    create(api, account, text="Fresh bread", draft=True)
    create(api, account, text="Warm rolls", draft=True)

    shown = dashboard.get("posts", q="BREAD")
    assert ("Fresh bread" in words(shown), "Warm rolls" in words(shown)) == (True, False)
    assert 'value="BREAD"' in shown.content.decode()


def test_a_failed_post_says_why_in_its_row(dashboard: Dashboard, api: ApiClient, account: ConnectedAccount) -> None:
    create(api, account, text="[sandbox:reject] no")
    run_until_idle()

    row = words(dashboard.get("posts")).partition("[sandbox:reject] no")[2]
    assert row.startswith(" The sandbox rejects this post, as its text asks."), row[:200]


@pytest.mark.parametrize("page", ["posts", "calendar"])
def test_posts_have_the_pictures_of_their_accounts(
    dashboard: Dashboard,
    accounts: list[ConnectedAccount],
    django_assert_num_queries: DjangoAssertNumQueries,
    page: str,
) -> None:
    group = group_with_target(dashboard.workspace, None, "published")
    PostTarget.objects.filter(group=group).delete()
    for place in range(10):
        account = AccountFactory(workspace=dashboard.workspace, platform="mastodon")
        PostTarget.objects.create(group=group, account=account, platform="mastodon", position=place)
    first, second = group.targets.order_by("position")[:2]
    for target, digest in ((first, "0123456789abcdef"), (second, "fedcba9876543210")):
        ConnectedAccount.objects.filter(pk=target.account_id).update(avatar_digest=digest, handle=f"<{digest[:4]}>")
    dashboard.get(page, view="day")  # fills the caches

    with CaptureQueriesContext(connection) as queries:
        shown = dashboard.get(page, view="day").content.decode()

    pictures = re.findall(r'<img class="avatar" src="([^"]+)" alt="([^"]*)"[^>]*><svg class="platform-mark"', shown)
    own = dashboard.address("accounts")
    assert pictures == [
        (f"{own}/{first.account_id}/avatar/0123456789abcdef", "&lt;0123&gt;"),
        (f"{own}/{second.account_id}/avatar/fedcba9876543210", "&lt;fedc&gt;"),
    ]
    assert shown.count('<use href="#mark-mastodon">') == 3, "The accounts without a picture share a mark."

    for number in range(4):
        account = AccountFactory(workspace=dashboard.workspace, platform="mastodon", avatar_digest=f"{number:016}")
        other = group_with_target(dashboard.workspace, None, "published")
        PostTarget.objects.filter(group=other).update(account=account, platform="mastodon")
    with django_assert_num_queries(len(queries)):
        shown = dashboard.get(page, view="day").content.decode()
    assert shown.count('<img class="avatar"') == 6
