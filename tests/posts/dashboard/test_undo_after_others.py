"""Undo of what concerns the posts of agents and of other people, and of what the time has overtaken."""

from __future__ import annotations

from typing import Any

from accounts.models import ConnectedAccount
from posts.models import PostGroup
from tests.conftest import ApiClient
from tests.posts.calls import patch
from tests.posts.dashboard.dashboard import Dashboard, the_group, words
from tests.posts.dashboard.offers import offer_after, undo
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, body_for, create

FRIDAY = "2027-03-12T09:00"


def test_publishing_a_draft_whose_time_has_passed_is_undone(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount, clock: Any
) -> None:
    group = create(api, account, draft=True, scheduled_at=TOMORROW)
    clock.move_to("2027-03-12T12:00:00Z")
    offer = offer_after(dashboard, dashboard.compose("publish", account, group=group, content_version="1"))

    page = undo(dashboard, offer)

    assert "The post is a draft again." in words(page)
    assert PostGroup.objects.exclude(pk=group["id"]).get().scheduled_at is None
    assert PostGroup.objects.get(pk=group["id"]).status == "cancelled"


def test_a_released_draft_of_an_agent_stays_the_agents(
    dashboard: Dashboard, agent_client: Any, account: ConnectedAccount, clock: Any
) -> None:
    group = agent_client().post("/posts", body_for(account, draft=True)).json()["post_group"]
    offer = offer_after(dashboard, dashboard.compose("publish", account, group=group, content_version="1"))

    page = undo(dashboard, offer)

    assert "Undone: the post is a draft again." in words(page)
    assert (the_group().id, the_group().status) == (group["id"], "draft")
    clock.shift(60)
    assert run_until_idle() == 0


def test_the_approval_of_an_agents_edit_is_taken_back(
    dashboard: Dashboard, api: ApiClient, agent_client: Any, account: ConnectedAccount, clock: Any
) -> None:
    group = create(api, account, scheduled_at=TOMORROW)
    patch(agent_client(default_mode="requires_confirmation"), group, text="Better")
    offer = offer_after(dashboard, dashboard.post("post-confirm", group, content_version="2"))

    page = undo(dashboard, offer)

    assert "Undone: the post awaits approval again." in words(page)
    assert the_group().status == "pending_confirmation"


def test_what_somebody_has_changed_since_is_not_undone(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount, clock: Any
) -> None:
    offer = offer_after(dashboard, dashboard.compose("schedule", account, when=FRIDAY, shown_when=FRIDAY))
    patch(api, {"id": the_group().id}, text="Meanwhile")

    page = undo(dashboard, offer)

    assert "The post was changed in the meantime." in words(page)
    assert (the_group().status, the_group().text) == ("scheduled", "Meanwhile")
