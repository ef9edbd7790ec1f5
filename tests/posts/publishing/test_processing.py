"""A video that a platform has accepted is never reported as failed, since it may still be published."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from billing import selectors as billing
from tests.accounts.platforms.contract.content import ended, post
from tests.accounts.platforms.contract.worlds import world_of
from tests.conftest import ApiClient
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import publish_rounds
from workspaces.models import Workspace


@pytest.mark.parametrize(
    ("platform", "slow_down", "secret"),
    [
        ("tiktok", lambda server: server.process_posts(2), "upload_token"),
        ("youtube", lambda server: server.process_videos(checks=2), "upload_id"),
    ],
)
def test_a_post_whose_access_ends_while_it_is_processed_is_not_failed(
    api: ApiClient,
    workspace: Workspace,
    settings: Any,
    clock: Any,
    platform: str,
    slow_down: Callable[[Any], None],
    secret: str,
) -> None:
    with world_of(platform, settings) as world:
        account = world.connect(api, workspace.id)
        slow_down(world.server)
        target = post(api, world, account)
        run_until_idle()
        assert ended(target)[0] == "processing"
        assert secret not in str(target.progress)
        world.withdraw()

        publish_rounds(clock)

        assert ended(target)[0] == "unconfirmed"
        assert api.get(f"/accounts/{account.id}/status").json()["account"]["status"] == "needs_reauth"
        assert len(world.posts()) == 1
    assert billing.find_wrong_month_counters() == []
