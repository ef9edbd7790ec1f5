"""The page of one post: status, errors, and actions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.models import ConnectedAccount
from posts.models import PostGroup, PostTarget
from tests.conftest import ApiClient
from tests.factories import AccountFactory, MediaAssetFactory
from tests.posts.dashboard.dashboard import Dashboard, fields, the_group, typed, words
from tests.posts.media_rows import media_of
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, body_for, create, publish_rounds, the_target
from webhooks.models import Delivery
from workspaces.models import Workspace

HOOK = "https://hooks.example/posts"


def create_and_publish(api: ApiClient, clock: Any, *accounts: ConnectedAccount, **fields: Any) -> dict[str, Any]:
    """A group that has finished publishing."""
    group = create(api, *accounts, **fields)
    publish_rounds(clock)
    return group


def test_the_page_shows_each_targets_status_error_and_suggested_action(
    dashboard: Dashboard,
    api: ApiClient,
    accounts: list[ConnectedAccount],
    clock: Any,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    texts = ["It works", "[sandbox:reject] no", "[sandbox:unknown] perhaps"]
    group = create_and_publish(api, clock, *accounts, texts=texts, webhook_url=HOOK)

    with django_assert_max_num_queries(14):
        page = dashboard.get("post", group)

    shown = words(page)
    for expected in (*texts, "Published", "Failed", "Not confirmed", "1 attempt", "PLATFORM_REJECTED", HOOK):
        assert expected in shown
    failed = PostTarget.objects.get(status="failed").error
    assert failed
    assert failed["message"] in shown
    assert "Change the post, then send it again." in shown
    assert "A post was published to some of its targets" not in shown
    assert "For at least one target it is unknown" in shown
    assert len(page.content) < 100_000


def test_a_published_post_links_to_its_permalink(
    dashboard: Dashboard, api: ApiClient, workspace: Workspace, account: ConnectedAccount
) -> None:
    group = create(api, account)
    there = {
        "status": "published",
        "certainty": "confirmed",
        "permalink": "https://social.example/1",
        "due_at": None,
        "sandbox": False,
    }
    PostTarget.objects.update(**there)

    assert 'href="https://social.example/1" rel="noopener noreferrer"' in dashboard.get("post", group).content.decode()


def test_the_page_reloads_while_the_post_is_being_published(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount
) -> None:
    group = create(api, account)
    assert 'hx-trigger="every 2s"' in dashboard.get("post", group).content.decode()

    run_until_idle()
    assert 'hx-trigger="every 2s"' not in dashboard.get("post", group).content.decode()


def test_failed_targets_are_retried(
    dashboard: Dashboard, api: ApiClient, accounts: list[ConnectedAccount], clock: Any
) -> None:
    group = create_and_publish(api, clock, *accounts[:2], texts=["It works", "[sandbox:reject] no"])

    dashboard.post("post-retry", group)

    assert [target.status for target in the_group().targets.order_by("position")] == ["published", "pending"]


def test_unconfirmed_targets_are_retried_only_if_selected(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount, clock: Any
) -> None:
    group = create_and_publish(api, clock, account, text="[sandbox:unknown]")
    assert "It could then appear twice" in words(dashboard.get("post", group))

    refused = dashboard.http.post(dashboard.address("post-retry", group), follow=True)
    assert "There is nothing to send again" in words(refused)
    assert the_target(group).status == "unconfirmed"

    dashboard.post("post-retry", group, include_unconfirmed="on")
    assert the_target(group).status == "pending"


@pytest.mark.parametrize(
    ("said", "status", "permalink"),
    [
        ({"is-out": "1", "permalink": "https://social.example/1"}, "published", "https://social.example/1"),
        ({}, "failed", None),
        ({"is-out": "1", "permalink": ""}, "unconfirmed", None),
        ({"is-out": "1", "permalink": "javascript:alert(1)"}, "unconfirmed", None),
    ],
)
def test_a_person_resolves_an_unconfirmed_target(
    dashboard: Dashboard,
    api: ApiClient,
    account: ConnectedAccount,
    clock: Any,
    said: dict[str, Any],
    status: str,
    permalink: str | None,
) -> None:
    group = create_and_publish(api, clock, account, text="[sandbox:unknown]")

    answer = dashboard.post("post-resolve", group, target_id=the_target(group).id, **said)

    assert answer.status_code == 303
    assert (the_target(group).status, the_target(group).permalink) == (status, permalink)


def test_a_draft_is_deleted_and_a_scheduled_post_cancelled(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount
) -> None:
    draft, scheduled = create(api, account, draft=True), create(api, account, scheduled_at=TOMORROW)
    assert "Delete the draft" in words(dashboard.get("post", draft))
    assert "Cancel post" in words(dashboard.get("post", scheduled))

    for group in (draft, scheduled):
        assert dashboard.post("post-cancel", group)["location"] == dashboard.address("post", group)

    assert set(PostGroup.objects.values_list("status", flat=True)) == {"cancelled"}


def test_a_scheduled_post_is_rescheduled(dashboard: Dashboard, api: ApiClient, account: ConnectedAccount) -> None:
    Workspace.objects.update(default_timezone="Europe/Berlin")
    group = create(api, account, scheduled_at=TOMORROW)
    assert fields(dashboard.get("post", group), "when") == ["2027-03-11T13:00"]

    dashboard.post("post-reschedule", group, when="2027-03-12T09:30")

    assert the_group().scheduled_at == datetime(2027, 3, 12, 8, 30, tzinfo=UTC)
    assert "Friday, 12 March 2027, 09:30" in words(dashboard.get("post", group))


@pytest.mark.parametrize(
    ("when", "message"),
    [
        ("", "Choose the day and time."),
        ("2027-03-28T02:30", "so this time does not exist"),
        ("2027-10-31T02:30", "The second time, 02:30 CET"),
        ("2027-03-09T09:00", "This time has passed. Choose a later one."),
    ],
)
def test_an_invalid_time_shows_the_form_again(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount, when: str, message: str
) -> None:
    Workspace.objects.update(default_timezone="Europe/Berlin")
    group = create(api, account, scheduled_at=TOMORROW)

    page = dashboard.post("post-reschedule", group, when=when)

    assert (page.status_code, message in words(page)) == (422, True)
    assert the_group().content_version == 1


def test_a_post_is_duplicated_into_one_draft(
    dashboard: Dashboard, api: ApiClient, accounts: list[ConnectedAccount], workspace: Workspace, clock: Any
) -> None:
    remaining, deleted = (MediaAssetFactory(workspace=workspace) for _ in range(2))
    group = create_and_publish(api, clock, *accounts[:2], texts=["One", "Two"], media=media_of(remaining, deleted))
    type(deleted).objects.filter(pk=deleted.id).update(status="deleted")
    [key] = fields(dashboard.get("post", group), "key")

    answers = [dashboard.post("post-duplicate", group, key=key)["location"] for _ in range(2)]

    draft = PostGroup.objects.get(status="draft")
    assert answers == [dashboard.address("post-edit", draft)] * 2
    assert [target.text for target in draft.targets.order_by("position")] == ["One", "Two"]
    assert draft.media == [{"media_id": remaining.id}]
    assert typed(dashboard.get("post-edit", draft), "text") == "Hello"


def test_the_copy_of_a_post_simulated_at_a_real_account_stays_simulated(
    dashboard: Dashboard, api: ApiClient, workspace: Workspace
) -> None:
    real = AccountFactory(workspace=workspace, sandbox=False)
    group = create(api, real, sandbox=True)

    dashboard.post("post-duplicate", group, key="k")

    assert PostGroup.objects.get(status="draft").sandbox


def test_the_page_names_the_posts_creator(
    dashboard: Dashboard, workspace: Workspace, agent_client: Any, account: ConnectedAccount
) -> None:
    group = agent_client().post("/posts", body_for(account, draft=True)).json()["post_group"]

    assert "by the agent Robot" in words(dashboard.get("post", group))


def test_the_page_shows_the_status_of_each_delivery(dashboard: Dashboard, api: ApiClient, account: ConnectedAccount) -> None:
    group = create(api, account, scheduled_at=TOMORROW, webhook_url=HOOK)
    Delivery.objects.update(status="dead_letter", due_at=None, attempts=8, last_error="The receiver hung up.")

    shown = words(dashboard.get("post", group))
    assert "Given up" in shown
    assert "The receiver hung up." in shown
