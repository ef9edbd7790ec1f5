"""Undo: what a person has just done in the dashboard is taken back, as long as nothing is out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from billing.models import MonthCounter
from posts.models import ComposerDraft, PostGroup, PostTarget, PublishingPreference
from tests.conftest import ApiClient
from tests.factories import AccountFactory, MediaAssetFactory
from tests.posts.calls import patch
from tests.posts.dashboard.dashboard import Dashboard, fields, the_group, typed, words
from tests.posts.dashboard.offers import offer_after, offer_on, undo
from tests.posts.media_rows import media_of
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import NOON, TOMORROW, body_for, create, kinds_of
from workspaces.models import Member, User, Workspace

THURSDAY, FRIDAY = "2027-03-11T12:00", "2027-03-12T09:00"


def held_cents() -> int:
    """The money that is held for posts of the workspace or its agents."""
    return sum(MonthCounter.objects.values_list("held_cents", flat=True))


@pytest.fixture
def waiting(clock: Any, agent_client: Any, account: ConnectedAccount) -> dict[str, Any]:
    """An agent's post that awaits approval."""
    agent = agent_client(default_mode="requires_confirmation")
    return dict(agent.post("/posts", body_for(account)).json()["post_group"])


def test_publishing_waits_and_returns_to_the_composer(
    dashboard: Dashboard, workspace: Workspace, accounts: list[ConnectedAccount], clock: Any
) -> None:
    _, mastodon, _ = accounts
    real = AccountFactory(workspace=workspace, sandbox=False, platform="mastodon")
    picture = MediaAssetFactory(workspace=workspace)
    extra = {
        f"own-{mastodon.id}": "on",
        f"text-{mastodon.id}": "Only there",
        f"{mastodon.id}-visibility": "unlisted",
        f"alt-{picture.id}": "Six loaves",
    }
    answer = dashboard.compose("publish", real, mastodon, extra=extra, media=[picture.id])
    assert held_cents() > 0
    clock.shift(9)
    assert run_until_idle() == 0

    page = undo(dashboard, offer_after(dashboard, answer))

    assert the_group().status == "cancelled"
    assert held_cents() == 0
    clock.shift(60)
    assert run_until_idle() == 0
    assert "Undone: nothing was published. Your text is back in the composer." in words(page)
    assert [typed(page, name) for name in ("text", f"text-{mastodon.id}", f"alt-{picture.id}")] == [
        "Hello",
        "Only there",
        "Six loaves",
    ]
    assert fields(page, "media") == [picture.id]
    assert '<option value="unlisted" selected>' in page.content.decode()
    assert ComposerDraft.objects.count() == 1


def test_publishing_ends_the_offer(dashboard: Dashboard, account: ConnectedAccount, clock: Any) -> None:
    offer = offer_after(dashboard, dashboard.compose("publish", account))
    assert "seconds=10" in offer
    page = dashboard.get("post", the_group())
    assert "The post is published in a few seconds." in words(page)
    assert 'hx-trigger="every 2s"' in page.content.decode()
    clock.shift(12)
    assert run_until_idle() == 1

    page = undo(dashboard, offer)

    assert "This can no longer be undone. The post is already being published" in words(page)
    assert the_group().status == "published"
    assert not ComposerDraft.objects.exists()


def test_a_scheduled_post_returns_to_the_composer_with_its_time(dashboard: Dashboard, account: ConnectedAccount) -> None:
    answer = dashboard.compose("schedule", account, when=FRIDAY, shown_when=FRIDAY)

    page = undo(dashboard, offer_after(dashboard, answer))

    assert (typed(page, "text"), fields(page, "when")) == ("Hello", [FRIDAY])
    assert the_group().status == "cancelled"
    assert kinds_of({"id": the_group().id}) == ["post.scheduled", "post.cancelled"]


@pytest.mark.parametrize(("action", "when"), [("publish", ""), ("schedule", FRIDAY)])
def test_a_released_draft_becomes_a_draft_again(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount, action: str, when: str
) -> None:
    group = create(api, account, draft=True, scheduled_at=TOMORROW, metadata={"campaign": "spring"})
    answer = dashboard.compose(action, account, group=group, content_version="1", when=when, shown_when=when, text="Better")
    offer = offer_after(dashboard, answer)

    pages = [undo(dashboard, offer) for _ in range(2)]  # pressed twice

    draft = PostGroup.objects.exclude(pk=group["id"]).get()
    assert (draft.status, draft.text, draft.scheduled_at) == ("draft", "Better", NOON + timedelta(days=1))
    assert draft.metadata == {"campaign": "spring"}
    assert PostGroup.objects.get(pk=group["id"]).status == "cancelled"
    assert all("The post is a draft again." in words(page) for page in pages)


def test_an_approval_is_taken_back(dashboard: Dashboard, waiting: dict[str, Any], clock: Any) -> None:
    answer = dashboard.post("post-confirm", waiting, content_version="1")
    offer = offer_after(dashboard, answer)
    assert run_until_idle() == 0

    page = undo(dashboard, offer)

    assert "Undone: the post awaits approval again." in words(page)
    group = the_group()
    assert (group.id, group.status, group.scheduled_at, group.agent_id is not None) == (
        waiting["id"],
        "pending_confirmation",
        None,
        True,
    )
    clock.shift(60)
    assert run_until_idle() == 0
    assert PostTarget.objects.get().due_at is None
    assert kinds_of(waiting)[-1] == "post.pending_confirmation"
    assert "changed in the meantime" in words(undo(dashboard, offer))
    assert dashboard.post("post-confirm", waiting, content_version="1").status_code == 303
    clock.shift(12)
    assert run_until_idle() == 1


def test_an_approval_of_a_paid_post_releases_the_money(
    dashboard: Dashboard, agent_client: Any, workspace: Workspace, clock: Any
) -> None:
    real = AccountFactory(workspace=workspace, sandbox=False)
    agent = agent_client(default_mode="requires_confirmation")
    waiting = agent.post("/posts", body_for(real, scheduled_at=TOMORROW)).json()["post_group"]
    answer = dashboard.post("post-confirm", waiting, content_version="1")
    assert held_cents() > 0

    undo(dashboard, offer_after(dashboard, answer))

    assert held_cents() == 0
    assert the_group().scheduled_at == NOON + timedelta(days=1)


def test_a_moved_post_returns_to_its_former_time(dashboard: Dashboard, api: ApiClient, account: ConnectedAccount) -> None:
    group = create(api, account, scheduled_at=TOMORROW)
    offers = [offer_after(dashboard, dashboard.post("post-reschedule", group, when=FRIDAY))]
    assert the_group().scheduled_at == datetime(2027, 3, 12, 9, tzinfo=UTC)
    undo(dashboard, offers[0])
    assert the_group().scheduled_at == NOON + timedelta(days=1)

    form: dict[str, Any] = {"group": group, "content_version": "3", "when": FRIDAY, "shown_when": FRIDAY}
    answer = dashboard.compose("publish", account, **form)
    undo(dashboard, offer_after(dashboard, answer))
    assert (the_group().status, the_group().scheduled_at) == ("scheduled", NOON + timedelta(days=1))


def test_a_move_that_somebody_changed_since_is_not_undone(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount
) -> None:
    group = create(api, account, scheduled_at=TOMORROW)
    offer = offer_after(dashboard, dashboard.post("post-reschedule", group, when=FRIDAY))
    patch(api, group, text="Meanwhile")

    page = undo(dashboard, offer)

    assert "The post was changed in the meantime." in words(page)
    assert (the_group().text, the_group().scheduled_at) == ("Meanwhile", datetime(2027, 3, 12, 9, tzinfo=UTC))


@pytest.mark.parametrize(("made", "status"), [({"draft": True}, "draft"), ({"scheduled_at": TOMORROW}, "scheduled")])
def test_a_deleted_post_is_back(
    dashboard: Dashboard,
    api: ApiClient,
    account: ConnectedAccount,
    workspace: Workspace,
    made: dict[str, Any],
    status: str,
) -> None:
    group = create(api, account, texts=["Mine"], media=media_of(MediaAssetFactory(workspace=workspace)), **made)
    offer = offer_after(dashboard, dashboard.post("post-cancel", group))

    for _ in range(2):
        undo(dashboard, offer)

    again = the_group()
    assert (again.id, again.status, again.text, len(again.media)) == (group["id"], status, "Hello", 1)
    assert again.scheduled_at == (NOON + timedelta(days=1) if status == "scheduled" else None)
    assert [target.text for target in again.targets.all()] == ["Mine"]


def test_a_discarded_draft_returns(dashboard: Dashboard, account: ConnectedAccount) -> None:
    dashboard.compose("keep", account, key="a-draft-of-the-composer", text="Unfinished")
    page = dashboard.http.post(dashboard.address("compose-discard"), {"draft": "a-draft-of-the-composer"}, follow=True)
    assert "unfinished post was discarded" in words(page)
    assert "You have 1 unfinished post" not in words(page)

    page = undo(dashboard, offer_on(page))

    assert typed(page, "text") == "Unfinished"


def test_a_person_can_publish_without_the_ten_seconds(
    dashboard: Dashboard, account: ConnectedAccount, waiting: dict[str, Any], workspace: Workspace, teammate: User
) -> None:
    assert "waits 10 seconds" in words(dashboard.get("compose"))
    dashboard.post("publishing-preference", at_once="on")
    assert "“Publish now” publishes at once." in words(dashboard.get("compose"))
    assert "This cannot be undone" in dashboard.get("compose").content.decode()

    answer = dashboard.compose("publish", account)
    page = dashboard.http.get(answer["location"])
    assert "It is being published now. This cannot be undone." in words(page)
    assert not offer_on(page)
    assert not offer_after(dashboard, dashboard.post("post-confirm", waiting, content_version="1"))
    assert run_until_idle() == 2

    Member.objects.filter(user=teammate).update(role="admin")
    assert "waits 10 seconds" in words(Dashboard(workspace, teammate).get("compose"))
    dashboard.post("publishing-preference")
    assert not PublishingPreference.objects.get().skips_undo_delay


def test_the_api_never_waits(api: ApiClient, account: ConnectedAccount) -> None:
    create(api, account)

    assert run_until_idle() == 1


def test_an_offer_is_for_the_person_who_got_it(
    dashboard: Dashboard, account: ConnectedAccount, workspace: Workspace, teammate: User, clock: Any
) -> None:
    offer = offer_after(dashboard, dashboard.compose("schedule", account, when=FRIDAY))
    Member.objects.filter(user=teammate).update(role="admin")

    assert "Not found" in words(undo(Dashboard(workspace, teammate), offer))
    for bad in (offer.replace("token=", "token=x"), offer.partition("?")[0]):
        assert "This can no longer be undone." in words(undo(dashboard, bad))
    clock.shift(601)
    assert "This can no longer be undone." in words(undo(dashboard, offer))
    assert the_group().status == "scheduled"
