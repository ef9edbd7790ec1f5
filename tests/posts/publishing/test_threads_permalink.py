"""A Threads post whose permalink nobody knows."""

from __future__ import annotations

from typing import Any

from billing import selectors as billing
from tests.accounts.platforms.contract.content import post
from tests.accounts.platforms.contract.worlds import world_of
from tests.conftest import ApiClient
from tests.fakes.threads import SHOW, FakeThreads
from tests.posts.rows import publish_rounds
from workspaces.models import Workspace


def test_a_post_whose_permalink_cannot_be_read_is_published_once(
    api: ApiClient, workspace: Workspace, settings: Any, clock: Any
) -> None:
    with world_of("threads", settings) as world:
        target = post(api, world, world.connect(api, workspace.id))
        world.server.hold_next(SHOW).set()  # the container's status
        world.server.fail_next(SHOW, 503, times=20)

        publish_rounds(clock)

        target.refresh_from_db()
        assert isinstance(world.server, FakeThreads)
        [made] = world.server.posts("alice")
        assert (target.status, target.external_id, target.permalink) == ("published", made["id"], "")
        assert target.phase == "permalink"
        assert (target.error or {})["code"] == "PUBLISHED_INCOMPLETE"
    assert billing.find_wrong_month_counters() == []
