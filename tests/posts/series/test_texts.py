"""The texts of a series are used in turn, and say the number and the date of each post."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from tests.conftest import ApiClient
from tests.factories import AccountFactory
from tests.posts.series.rows import change, create_series, made_posts, read_series, run_series_loop, series_body
from tests.posts.series.test_api import refused_fields
from workspaces.models import Workspace

pytestmark = pytest.mark.usefixtures("clock")


def test_texts_are_used_in_turn(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    series = create_series(api, account, post={"text": "One", "texts": ["Two", "Three"]})
    run_series_loop()
    clock.shift(timedelta(days=1))
    run_series_loop()

    assert [post.text for post in made_posts(series)] == ["One", "Two", "Three"] * 2 + ["One", "Two"]
    assert read_series(api, series)["post"]["texts"] == ["Two", "Three"]


def test_number_and_local_date_are_filled_in(api: ApiClient, account: ConnectedAccount) -> None:
    post = {"text": "No. {n} of {date}, {name}"}
    series = create_series(api, account, post=post, starts_at="2027-03-08T00:30", rrule="FREQ=DAILY;COUNT=5")
    run_series_loop()

    assert [post.text for post in made_posts(series)] == ["No. 1 of 2027-03-11, {name}", "No. 2 of 2027-03-12, {name}"]


def test_targets_own_text_is_filled_in(api: ApiClient, account: ConnectedAccount) -> None:
    body = series_body(account)
    body["post"]["targets"][0]["text"] = "Own {n}"
    series = api.post("/series", body).json()["series"]
    run_series_loop()

    assert [post.targets.get().text for post in made_posts(series)][:2] == ["Own 1", "Own 2"]


def test_changed_series_keeps_the_numbers_of_its_posts(api: ApiClient, account: ConnectedAccount) -> None:
    series = create_series(api, account, post={"text": "Hello {n}"})
    run_series_loop()
    target = {name: series["post"]["targets"][0][name] for name in ("platform", "connected_account_id")}

    change(api, series, post={"text": "Odd {n}", "texts": ["Even {n}"], "targets": [target]}, apply_to_scheduled=True)

    expected = ["Odd 1", "Even 2", "Odd 3", "Even 4", "Odd 5", "Even 6", "Odd 7"]
    assert [post.text for post in made_posts(series)] == expected


def test_text_does_not_come_again_within_a_day(api: ApiClient, account: ConnectedAccount) -> None:
    four_a_day = {"rrule": "FREQ=DAILY;BYHOUR=6,12,18,21"}

    few = api.post("/series", series_body(account, post={"texts": ["Two", "Three"]}, **four_a_day))
    repeated = api.post("/series", series_body(account, post={"texts": ["Hello"]}))
    enough = api.post("/series", series_body(account, post={"texts": ["Two", "Three", "Four"]}, **four_a_day))
    numbered = api.post("/series", series_body(account, post={"text": "{n}", "texts": ["No. {n}"]}, **four_a_day))

    assert (refused_fields(few), refused_fields(repeated)) == (["post.texts"], ["post.texts"])
    assert (enough.status_code, numbered.status_code) == (201, 201)


def test_each_text_is_checked_and_the_highest_price_is_shown(api: ApiClient, workspace: Workspace) -> None:
    real = AccountFactory(workspace=workspace, sandbox=False)

    refused = api.post("/series", series_body(real, post={"texts": ["Fits", "x" * 400]}))
    assert refused.status_code == 422
    assert [each["field"] for each in refused.json()["details"]] == ["post.texts[1].targets[0].text"]
