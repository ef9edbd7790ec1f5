"""Undo of a retry: a failed or missed post that is sent again waits some seconds, in which it fails again as before."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from billing import selectors as billing
from billing.models import LedgerEntry, MonthCounter
from posts.models import PostGroup, PostTarget
from posts.publishing.attempts import claim_targets
from tests.conftest import ApiClient
from tests.posts.dashboard.dashboard import Dashboard, the_group, words
from tests.posts.dashboard.offers import offer_after, offer_on, undo
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, create, fail_as_missed, kinds_of, read, the_target
from tests.posts.scripted_platform import ScriptedPlatform

TOO_LATE = "This can no longer be undone."


def rows() -> list[dict[str, Any]]:
    """All targets as they are stored, without the fence, which every change raises."""
    return [
        {name: value for name, value in row.items() if name != "fence"} for row in PostTarget.objects.order_by("id").values()
    ]


def retry(dashboard: Dashboard, group: dict[str, Any], **form: Any) -> str:
    """Send a post again on its page; returns the address of the button that undoes it."""
    return offer_after(dashboard, dashboard.post("post-retry", group, **form))


@pytest.fixture
def rejected(rejected: dict[str, Any], clock: Any) -> dict[str, Any]:
    """A post that was rejected a minute ago; the next attempt would succeed."""
    clock.shift(60)
    return rejected


def test_a_retry_that_is_undone_leaves_the_failure(
    dashboard: Dashboard, api: ApiClient, rejected: dict[str, Any], scripted: type[ScriptedPlatform], clock: Any
) -> None:
    failed, kinds = rows(), kinds_of(rejected)
    offer = retry(dashboard, rejected)
    assert "seconds=10" in offer
    assert "The post is published in a few seconds." in words(dashboard.get("post", rejected))
    assert MonthCounter.objects.get().held_cents == 1
    clock.shift(9)
    assert run_until_idle() == 0

    page = undo(dashboard, offer)

    assert "Undone: the post is not sent again." in words(page)
    clock.shift(60)
    assert run_until_idle() == 0
    assert (rows(), kinds_of(rejected)) == (failed, kinds)
    after = read(api, rejected)
    assert {**after, "updated_at": "", "plan_hash": ""} == {**rejected, "updated_at": "", "plan_hash": ""}
    assert (MonthCounter.objects.get().held_cents, MonthCounter.objects.get().settled_cents) == (0, 0)
    assert billing.find_wrong_month_counters() == []
    audit = AuditEntry.objects.filter(operation="posts.retry", outcome="succeeded").order_by("pk")
    assert [entry.metadata.get("taken_back") for entry in audit] == [None, True]
    assert len(scripted.sent) == 1

    # It can be sent again, once, and is charged once.
    assert TOO_LATE in words(undo(dashboard, offer))
    retry(dashboard, rejected)
    clock.shift(12)
    assert run_until_idle() == 1
    assert (read(api, rejected)["status"], len(scripted.sent)) == ("published", 2)
    assert list(LedgerEntry.objects.order_by("pk").values_list("kind", flat=True)) == [
        *("hold", "release") * 2,
        *("hold", "settle"),
    ]


def test_a_retry_that_has_begun_is_not_undone(
    dashboard: Dashboard, api: ApiClient, rejected: dict[str, Any], scripted: type[ScriptedPlatform], clock: Any
) -> None:
    offer = retry(dashboard, rejected)
    clock.shift(12)
    [claimed] = claim_targets(PostTarget.objects.all(), limit=1)

    assert TOO_LATE in words(undo(dashboard, offer))

    clock.shift(timedelta(hours=1))  # the claim of that worker ends
    assert run_until_idle() == 1
    assert (read(api, rejected)["status"], len(scripted.sent)) == ("published", 2)
    assert (MonthCounter.objects.get().held_cents, MonthCounter.objects.get().settled_cents) == (0, 1)
    assert PostTarget.objects.get().fence > claimed.fence


def test_a_retry_that_was_published_is_not_undone(dashboard: Dashboard, rejected: dict[str, Any], clock: Any) -> None:
    offer = retry(dashboard, rejected)
    clock.shift(12)
    assert run_until_idle() == 1

    page = undo(dashboard, offer)

    assert TOO_LATE in words(page)
    assert the_group().status == "published"
    assert (MonthCounter.objects.get().held_cents, MonthCounter.objects.get().settled_cents) == (0, 1)


def test_what_somebody_else_did_with_the_retry_stays(
    dashboard: Dashboard, api: ApiClient, rejected: dict[str, Any], clock: Any
) -> None:
    offer = retry(dashboard, rejected)
    assert api.delete(f"/posts/{rejected['id']}").status_code == 200

    assert TOO_LATE in words(undo(dashboard, offer))

    assert the_group().status == "cancelled"
    assert MonthCounter.objects.get().held_cents == 0


def test_several_targets_fail_again_and_others_stay(
    dashboard: Dashboard, api: ApiClient, accounts: list[ConnectedAccount], clock: Any
) -> None:
    group = create(api, *accounts, texts=["[sandbox:reject]", "Hello", "[sandbox:unknown]"])
    run_until_idle()
    before, stored = read(api, group), rows()
    offer = retry(dashboard, group, include_unconfirmed="on")
    assert [each["status"] for each in read(api, group)["targets"]] == ["pending", "published", "pending"]

    undo(dashboard, offer)

    assert rows() == stored
    assert read(api, group)["targets"] == before["targets"]
    assert read(api, group)["status"] == "unconfirmed"


def test_without_the_ten_seconds_it_is_sent_at_once(dashboard: Dashboard, rejected: dict[str, Any]) -> None:
    dashboard.post("publishing-preference", at_once="on")

    page = dashboard.http.post(dashboard.address("post-retry", rejected), follow=True)

    assert "The post is being sent again. This cannot be undone." in words(page)
    assert not offer_on(page)
    assert run_until_idle() == 1


def test_a_retry_by_the_api_does_not_wait(api: ApiClient, rejected: dict[str, Any]) -> None:
    assert api.post(f"/posts/{rejected['id']}/retry", {}).status_code == 200

    assert run_until_idle() == 1


def test_missed_posts_that_are_sent_are_missed_again(
    dashboard: Dashboard, api: ApiClient, accounts: list[ConnectedAccount], clock: Any
) -> None:
    groups = [create(api, account, scheduled_at=TOMORROW) for account in accounts[:2]]
    for group in groups:
        fail_as_missed(group["id"])
    clock.shift(60)
    stored = rows()
    confirms = "Send the chosen posts now? This cannot be undone."
    assert confirms not in dashboard.get("missed").content.decode()
    answer = dashboard.post("missed", post=[group["id"] for group in groups])
    page = dashboard.http.get(answer["location"])
    assert "2 posts are sent in 10 seconds." in words(page)
    assert "No missed posts." in words(page)
    assert run_until_idle() == 0

    clock.shift(12)
    [claimed] = claim_targets(PostTarget.objects.filter(group=groups[1]["id"]), limit=1)
    page = undo(dashboard, offer_on(page))

    # One of them was taken back, and the other one, which a worker has, is sent.
    assert "Undone: the post is not sent again." in words(page)
    assert f"{TOO_LATE} 1 post stayed as it is now." in words(page)
    assert [row for row in rows() if row["group_id"] == groups[0]["id"]] == [
        row for row in stored if row["group_id"] == groups[0]["id"]
    ]
    assert the_target(groups[1]).status == "pending"
    assert claimed.pk == the_target(groups[1]).pk

    dashboard.post("publishing-preference", at_once="on")
    assert confirms in dashboard.get("missed").content.decode()
    assert "1 post is being sent. This cannot be undone." in words(
        dashboard.http.post(dashboard.address("missed"), {"post": groups[0]["id"]}, follow=True)
    )
    assert PostGroup.objects.get(pk=groups[0]["id"]).status == "publishing"
