"""Every kind of post that a platform says it takes goes out whole, once, and says where it stands."""

from __future__ import annotations

from typing import Any

from accounts.models import ConnectedAccount
from billing import selectors as billing
from tests.accounts.platforms.contract.content import ended, kinds_of, post, shown
from tests.accounts.platforms.contract.world import World
from tests.conftest import ApiClient
from tests.posts.rows import events_of, publish_rounds


def test_every_kind_of_post_goes_out(api: ApiClient, world: World, account: ConnectedAccount, clock: Any) -> None:
    for kind in kinds_of(world):
        target = post(api, world, account, f"Hello, {kind}", kind)

        publish_rounds(clock)

        assert (kind, *ended(target)) == (kind, "published", None)
        assert target.attempts == 1
        assert events_of({"id": target.group_id})[-1]["type"] == "post.published"
        assert target.external_id
        assert (target.permalink or "").startswith(("https://", world.server.url))
    assert world.posts() == [shown(world, f"Hello, {kind}", kind) for kind in kinds_of(world)]
    assert billing.find_wrong_month_counters() == []
