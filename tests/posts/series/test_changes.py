"""Pauses, skipped occurrences, changed rules and contents, ends, and revoked agents."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from agents.models import Agent
from billing.models import MonthCounter
from posts.models import PostGroup, PostTarget, Series
from tests import factories
from tests.conftest import ApiClient
from tests.posts.calls import patch, targets_for
from tests.posts.publishing.worker import run_until_idle
from tests.posts.series.rows import change, create_series, days_made, made_posts, read_series, run_series_loop
from workspaces.models import Workspace

WEEK_OF_DAILY = [f"03-{day} 08:00" for day in range(11, 18)]

pytestmark = pytest.mark.usefixtures("clock")


@pytest.fixture
def series(api: ApiClient, account: ConnectedAccount) -> dict[str, Any]:
    """A daily series with the posts of its first week."""
    made = create_series(api, account)
    run_series_loop()
    return read_series(api, made)


def skip(api: ApiClient, series: dict[str, Any], at: str) -> Any:
    return api.post(f"/series/{series['id']}/skip", {"at": at})


def local_times(series: dict[str, Any]) -> list[str]:
    return [each["local"] for each in series["next"]]


def test_pause_leaves_what_is_made_and_leaves_out_what_passes(api: ApiClient, series: dict[str, Any], clock: Any) -> None:
    change(api, series, status="paused")
    clock.move_to(datetime(2027, 3, 20, 12, tzinfo=UTC))
    run_series_loop()
    assert days_made(series) == WEEK_OF_DAILY

    change(api, series, status="active")
    run_series_loop()

    assert days_made(series)[7:] == [f"03-{day} 08:00" for day in range(21, 28)]


def test_skipped_occurrence_that_is_made_is_cancelled(api: ApiClient, series: dict[str, Any]) -> None:
    at = series["next"][1]["at"]

    skipped = skip(api, series, at).json()["series"]

    assert skipped["exdates"] == ["2027-03-12T09:00"]
    assert local_times(skipped)[:2] == ["2027-03-11T09:00", "2027-03-13T09:00"]
    assert days_made(series, status="cancelled") == ["03-12 08:00"]
    assert skip(api, series, at).json()["series"] == skipped
    run_series_loop()
    assert len(made_posts(series)) == 7


def test_skipped_occurrence_that_is_not_made_is_never_made(api: ApiClient, series: dict[str, Any], clock: Any) -> None:
    assert skip(api, series, "2027-03-18T08:00:00Z").status_code == 200

    clock.shift(timedelta(days=2))
    run_series_loop()

    assert days_made(series)[7:] == ["03-19 08:00"]


@pytest.mark.parametrize("at", ["2027-03-12T09:00:00Z", "2027-03-10T08:00:00Z", "2026-03-12T08:00:00Z"])
def test_nothing_to_skip_is_refused(api: ApiClient, series: dict[str, Any], at: str) -> None:
    answer = skip(api, series, at)

    assert (answer.status_code, answer.json()["details"][0]["field"]) == (422, "at")
    assert read_series(api, series) == series


def test_change_leaves_scheduled_posts_unless_asked(api: ApiClient, series: dict[str, Any]) -> None:
    changed = change(api, series, rrule="FREQ=WEEKLY;BYDAY=FR", post={**series["post"], "text": "Weekend"} | _without(series))

    assert days_made(series, status="scheduled") == WEEK_OF_DAILY
    assert {post.text for post in made_posts(series)} == {"Hello"}
    assert local_times(changed)[:7] == [f"2027-03-{day}T09:00" for day in range(11, 18)]  # made by the old rule
    assert local_times(changed)[7:] == ["2027-03-19T09:00", "2027-03-26T09:00", "2027-04-02T09:00"]


def _without(series: dict[str, Any]) -> dict[str, Any]:
    """The fields of a stored post that a request leaves out because they are null."""
    target = series["post"]["targets"][0]
    return {
        "webhook_url": "https://receiver.example/hook",
        "targets": [{name: target[name] for name in ("platform", "connected_account_id")}],
    }


def test_change_applied_to_scheduled_posts_cancels_and_edits(api: ApiClient, series: dict[str, Any]) -> None:
    edited_by_hand, moved_by_hand = made_posts(series)[1], made_posts(series)[2]  # 12 March is a Friday
    patch(api, {"id": edited_by_hand.id}, text="By hand")
    patch(api, {"id": moved_by_hand.id}, scheduled_at="2027-03-13T10:00:00Z")

    post = {"text": "New", "targets": _without(series)["targets"]}
    change(api, series, rrule="FREQ=WEEKLY;BYDAY=FR,SU,MO", post=post, apply_to_scheduled=True)

    assert days_made(series, status="cancelled") == ["03-11 08:00", "03-16 08:00", "03-17 08:00"]
    texts = {f"{post.scheduled_at:%m-%d %H:%M}": post.text for post in made_posts(series) if post.status == "scheduled"}
    assert texts == {"03-12 08:00": "By hand", "03-13 10:00": "Hello", "03-14 08:00": "New", "03-15 08:00": "New"}
    run_series_loop()
    assert len(made_posts(series)) == 7


def test_cancelled_occurrence_is_made_again_if_the_rule_has_it_again(api: ApiClient, series: dict[str, Any]) -> None:
    change(api, series, rrule="FREQ=WEEKLY;BYDAY=FR", apply_to_scheduled=True)
    change(api, series, rrule="FREQ=DAILY")

    run_series_loop()

    assert days_made(series, status="scheduled") == WEEK_OF_DAILY
    assert len(made_posts(series)) == 13


def test_post_cancelled_by_hand_is_not_made_again(api: ApiClient, series: dict[str, Any]) -> None:
    api.delete(f"/posts/{series['next'][0]['post_group_id']}")

    change(api, series, name="Other")
    run_series_loop()

    assert days_made(series, status="cancelled") == ["03-11 08:00"]
    assert len(made_posts(series)) == 7


def test_end_cancels_what_is_scheduled_and_releases_its_price(api: ApiClient, workspace: Workspace) -> None:
    series = create_series(api, factories.AccountFactory(workspace=workspace, sandbox=False))
    run_series_loop()
    patch(api, {"id": made_posts(series)[0].id}, text="By hand")
    assert MonthCounter.objects.get(holder_id=workspace.id).held_cents == 7

    api.delete(f"/series/{series['id']}")

    assert days_made(series, status="cancelled") == WEEK_OF_DAILY
    assert MonthCounter.objects.get(holder_id=workspace.id).held_cents == 0


def test_dry_runs_change_nothing(api: ApiClient, series: dict[str, Any]) -> None:
    path = f"/series/{series['id']}"
    previews = [
        api.request("PATCH", path, {"rrule": "FREQ=WEEKLY", "apply_to_scheduled": True, "dry_run": True}),
        api.post(f"{path}/skip", {"at": series["next"][0]["at"], "dry_run": True}),
        api.delete(path, {"dry_run": True}),
    ]

    assert [answer.status_code for answer in previews] == [200] * 3
    assert previews[2].json()["would_update"]["status"] == "ended"
    assert read_series(api, series) == series
    assert days_made(series, status="scheduled") == WEEK_OF_DAILY


def test_revoked_agent_ends_its_series(api: ApiClient, agent_client: Any, account: ConnectedAccount) -> None:
    series = create_series(agent_client(default_mode="requires_confirmation"), account)
    run_series_loop()
    api.post(f"/posts/{made_posts(series)[0].id}/confirm", {"content_version": 1})

    api.delete(f"/agents/{Agent.objects.get().id}")

    assert (read_series(api, series)["status"], read_series(api, series)["next"]) == ("ended", [])  # before a worker runs
    assert api.request("PATCH", f"/series/{series['id']}", {"status": "paused"}).json()["code"] == "INVALID_STATE"
    run_series_loop()
    assert days_made(series, status="cancelled") == WEEK_OF_DAILY
    assert Series.objects.get().status == "ended"


def test_post_of_a_revoked_agent_is_not_published_even_if_it_is_not_cancelled_yet(
    api: ApiClient, agent_client: Any, account: ConnectedAccount, clock: Any
) -> None:
    series = create_series(agent_client(), account)
    run_series_loop()
    clock.move_to(datetime(2027, 3, 11, 8, tzinfo=UTC))
    api.delete(f"/agents/{Agent.objects.get().id}")

    run_until_idle()
    assert set(PostTarget.objects.values_list("status", "attempts")) == {("pending", 0)}

    run_series_loop()
    assert set(PostGroup.objects.values_list("status", flat=True)) == {"cancelled"}
    assert read_series(api, series)["status"] == "ended"


def test_refused_edit_is_shown_and_the_post_stays(api: ApiClient, agent_client: Any, workspace: Workspace) -> None:
    first, second = (factories.AccountFactory(workspace=workspace) for _ in range(2))
    agent = agent_client(account_allowlist=[first.id])
    series = create_series(agent, first)
    run_series_loop()

    post = {"text": "New", "targets": targets_for(second)}
    changed = change(api, series, post=post, apply_to_scheduled=True)

    assert {each["error"]["code"] for each in changed["next"][:7]} == {"ACCOUNT_NOT_ALLOWED"}
    assert {post.text for post in made_posts(series)} == {"Hello"}
