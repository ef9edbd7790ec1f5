"""Outcomes of one post's targets that are written at the same time: the post ends once, with all of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import ConnectedAccount
from billing import selectors as billing
from posts.models import PostTarget
from posts.publishing.attempts import claim_targets
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.posts.publishing.worker import publish_claimed
from tests.posts.rows import create, kinds_of, read

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 8


def test_two_workers_finish_the_targets_of_one_post(api: ApiClient, accounts: list[ConnectedAccount]) -> None:
    for number in range(ROUNDS):
        group = create(api, *accounts[:2], text=f"Post {number}")
        claimed = claim_targets(PostTarget.objects.all(), limit=2)

        in_threads(2, lambda n, claimed=claimed: publish_claimed(claimed[n]))  # type: ignore[misc]

        ended = read(api, group)
        assert (ended["status"], [target["status"] for target in ended["targets"]]) == ("published", ["published"] * 2)
        assert sorted(kinds_of(group)) == ["post.published", "post.target.published", "post.target.published"]


def test_a_target_is_cancelled_while_the_other_one_is_published(
    api: ApiClient, account: ConnectedAccount, telegram_account: ConnectedAccount, scripted: Any
) -> None:
    tomorrow = (timezone.now() + timedelta(days=1)).isoformat()
    for number in range(ROUNDS):
        group = create(api, account, telegram_account, text=f"Post {number}", scheduled_at=tomorrow)
        PostTarget.objects.filter(group_id=group["id"], account=account).update(due_at=timezone.now())
        [claimed] = claim_targets(PostTarget.objects.all(), limit=2)

        def publish_or_cancel(n: int, group: dict[str, Any] = group, claimed: PostTarget = claimed) -> None:
            publish_claimed(claimed) if n else api.delete(f"/posts/{group['id']}")

        in_threads(2, publish_or_cancel)

        ended = read(api, group)
        if ended["status"] == "publishing":  # the cancellation was refused, because the post changed meanwhile
            assert api.delete(f"/posts/{group['id']}").status_code == 200
            ended = read(api, group)
        assert (ended["status"], [target["status"] for target in ended["targets"]]) == (
            "published",
            ["published", "cancelled"],
        )
        assert kinds_of(group).count("post.published") == 1
    assert billing.find_wrong_month_counters() == []
