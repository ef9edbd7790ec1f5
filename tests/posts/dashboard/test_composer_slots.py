"""The composer's choice of the next free slot of an account."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from posts.models import PostTarget
from tests.conftest import ApiClient
from tests.posts.calls import targets_for
from tests.posts.dashboard.dashboard import Dashboard, the_group, words

FIRST, SECOND = "11 09:00", "11 18:00"


@pytest.fixture
def slotted(account: ConnectedAccount) -> ConnectedAccount:
    """An account with two slots each Thursday; it is Wednesday."""
    account.slot_timezone, account.slots = "UTC", [{"weekday": "thu", "time": time} for time in ("09:00", "18:00")]
    account.save()
    return account


def in_slot(account: ConnectedAccount) -> dict[str, str]:
    return {f"time-{account.id}-slot": "on"}


def time_of(account: ConnectedAccount) -> str:
    target = PostTarget.objects.get(account=account)
    assert target.slot
    return f"{target.scheduled_at:%d %H:%M}"


def test_the_composer_offers_slots_of_accounts_that_have_some(
    dashboard: Dashboard, slotted: ConnectedAccount, accounts: list[ConnectedAccount]
) -> None:
    page = dashboard.compose("times", slotted, accounts[1])

    assert words(page).count("Next free slot of") == 1
    assert f'name="time-{slotted.id}-slot"' in page.content.decode()


def test_a_post_goes_into_the_next_free_slot_and_an_edit_keeps_it(
    dashboard: Dashboard, api: ApiClient, slotted: ConnectedAccount
) -> None:
    other = api.post("/posts", {"text": "Before", "targets": targets_for(slotted, slot="next")}).json()["post_group"]
    dashboard.compose("schedule", slotted, extra=in_slot(slotted))
    group_id = PostTarget.objects.exclude(group=other["id"]).get().group_id
    api.delete(f"/posts/{other['id']}")
    PostTarget.objects.filter(group=other["id"]).delete()
    assert time_of(slotted) == SECOND

    extra = {**in_slot(slotted), "content_version": "1", "key": "edit-key-of-16-characters"}
    dashboard.compose("schedule", slotted, group={"id": group_id}, text="Better", extra=extra)

    assert (time_of(slotted), PostTarget.objects.get().group.text) == (SECOND, "Better")


def test_a_draft_of_the_composer_waits_for_its_slot(dashboard: Dashboard, slotted: ConnectedAccount) -> None:
    dashboard.compose("save", slotted, extra=in_slot(slotted))

    target = the_group().targets.get()
    assert (target.slot, target.scheduled_at) == (True, None)
    assert "checked> Next free slot" in dashboard.get("post-edit", the_group()).content.decode()


def test_approving_after_the_slot_takes_the_next_one(
    dashboard: Dashboard, agent_client: Any, slotted: ConnectedAccount, clock: Any
) -> None:
    agent = agent_client(default_mode="requires_confirmation")
    agent.post("/posts", {"text": "May I?", "targets": targets_for(slotted, slot="next")})
    clock.move_to("2027-03-11T12:00:00Z")
    assert "Approve for the next free slot" in words(dashboard.get("approvals"))

    dashboard.post("post-confirm", the_group(), content_version="1")

    assert (the_group().status, time_of(slotted)) == ("scheduled", SECOND)
