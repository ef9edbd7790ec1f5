"""The composer's choice of the next free slot of an account."""

from __future__ import annotations

import re
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from posts.models import PostTarget
from tests.conftest import ApiClient
from tests.posts.calls import targets_for
from tests.posts.dashboard.dashboard import Dashboard, fields, the_group, words

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


def second_slot(dashboard: Dashboard, account: ConnectedAccount) -> dict[str, str]:
    """Open the composer by the "+" of the account's second slot in the calendar; return what the form then sends."""
    day = dashboard.get("calendar", view="day", date="2027-03-11").content.decode()
    address = re.findall(r'href="([^"]*slot=[^"]*)"', day)[1].replace("&amp;", "&")
    page = dashboard.http.get(address)
    assert "Take the slot of" in words(page)
    [slot], [when] = fields(page, "slot"), fields(page, "when")
    assert when == "2027-03-11T18:00"
    return {"slot": slot, "takes_slot": "on", "when": when, "key": "a-key-of-16-characters"}


def test_the_plus_of_a_slot_takes_this_slot(
    dashboard: Dashboard, clock: Any, slotted: ConnectedAccount, accounts: list[ConnectedAccount]
) -> None:
    form = second_slot(dashboard, slotted)

    dashboard.compose("schedule", slotted, accounts[1], extra=form)

    targets = {each.account_id: each for each in the_group().targets.all()}
    assert time_of(slotted) == SECOND
    assert not targets[accounts[1].id].slot
    assert targets[accounts[1].id].scheduled_at == targets[slotted.id].scheduled_at


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"takes_slot": None}, "2027-03-11T18:00"),
        ({"when": "2027-03-12T10:00"}, "2027-03-12T10:00"),
    ],
)
def test_a_post_at_another_time_or_without_the_choice_takes_no_slot(
    dashboard: Dashboard, clock: Any, slotted: ConnectedAccount, changed: dict[str, str | None], expected: str
) -> None:
    form = second_slot(dashboard, slotted) | changed

    dashboard.compose("schedule", slotted, extra={name: value for name, value in form.items() if value})

    target = the_group().targets.get()
    assert (f"{target.scheduled_at:%Y-%m-%dT%H:%M}", target.slot) == (expected, False)


def test_a_slot_that_was_taken_meanwhile_is_refused_and_then_left_out(
    dashboard: Dashboard, api: ApiClient, clock: Any, slotted: ConnectedAccount
) -> None:
    form = second_slot(dashboard, slotted)
    for text in ("First", "Second"):
        api.post("/posts", {"text": text, "targets": targets_for(slotted, slot="next")})

    answer = dashboard.compose("schedule", slotted, extra=form)

    assert answer.status_code == 422
    assert "Nothing was scheduled, because the slot is gone." in words(answer)
    assert "takes_slot" not in answer.content.decode()
    assert PostTarget.objects.count() == 2
    form.pop("takes_slot")
    dashboard.compose("schedule", slotted, extra=form)
    assert PostTarget.objects.get(slot=False).scheduled_at == PostTarget.objects.get(group__text="Second").scheduled_at


def test_a_slot_that_the_account_has_no_more_is_refused(dashboard: Dashboard, clock: Any, slotted: ConnectedAccount) -> None:
    form = second_slot(dashboard, slotted)
    slotted.slots = [{"weekday": "thu", "time": "09:00"}]
    slotted.save()

    assert dashboard.compose("schedule", slotted, extra=form).status_code == 422
    assert not PostTarget.objects.exists()


def test_two_people_cannot_take_one_slot(dashboard: Dashboard, clock: Any, slotted: ConnectedAccount) -> None:
    form = second_slot(dashboard, slotted)

    answers = [
        dashboard.compose("schedule", slotted, text=text, extra={**form, "key": f"the-key-of-the-{text}"})
        for text in ("first", "second")
    ]

    assert [answer.status_code for answer in answers] == [303, 422]
    assert time_of(slotted) == SECOND


@pytest.mark.parametrize("written", ["nonsense", "acc_x@2027-03-11T18:00:00Z", "@", "{id}@yesterday"])
def test_a_wrong_slot_in_the_address_is_ignored(dashboard: Dashboard, slotted: ConnectedAccount, written: str) -> None:
    page = dashboard.get("compose", slot=written.format(id=slotted.id))

    assert page.status_code == 200
    assert fields(page, "slot") == []
