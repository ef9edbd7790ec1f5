"""The calls in docs/series.md do what the page says."""

from __future__ import annotations

import itertools
import json
import re
import shlex
from pathlib import Path
from string import Template
from typing import Any

import pytest
from django.conf import settings

from accounts.models import ConnectedAccount
from tests.conftest import ApiClient
from tests.factories import AccountFactory
from tests.posts.series.rows import days_made, made_posts, run_series_loop
from workspaces.models import Workspace

pytestmark = pytest.mark.usefixtures("clock")


@pytest.fixture
def mastodon(workspace: Workspace) -> ConnectedAccount:
    return AccountFactory(workspace=workspace, platform="mastodon")


def calls() -> list[str]:
    """The commands of the page, in their order."""
    blocks = re.findall(r"```sh\n(.*?)```", (Path(settings.BASE_DIR) / "docs/series.md").read_text(), re.DOTALL)
    return [command for block in blocks for command in re.split(r"\n(?=curl )", block)]


def send(
    api: ApiClient, command: str, *, changes: dict[str, Any] | None = None, plan_hash: str = "", **variables: str
) -> Any:
    """Send the request of a command, given the values of its shell variables; `changes` replace fields of its body."""
    words = [Template(word).safe_substitute(variables, URL="") for word in shlex.split(command)]
    options = dict(itertools.pairwise(words))
    body = {**json.loads(options["-d"]), **(changes or {})} if "-d" in options else None
    path = next(word for word in words[1:] if word.startswith("/"))
    answer = api.request(options.get("-X", "GET"), path, body, **({"plan_hash": plan_hash} if plan_hash else {}))
    assert answer.status_code in (200, 201), answer.content
    return answer.json()


def create_guides_series(api: ApiClient, account: ConnectedAccount) -> dict[str, Any]:
    """Create the series of the page after its preview, and schedule its posts."""
    command = calls()[0]
    plan_hash = send(api, command, ACCOUNT=account.id)["plan_hash"]
    made = send(api, command, ACCOUNT=account.id, changes={"dry_run": False}, plan_hash=plan_hash)
    run_series_loop()
    return dict(made["series"])


def test_the_preview_shows_ten_posts_and_the_series_makes_them(api: ApiClient, mastodon: ConnectedAccount) -> None:
    shown = send(api, calls()[0], ACCOUNT=mastodon.id)["would_create"]
    series = create_guides_series(api, mastodon)

    assert [each["local"] for each in shown["next"]][:2] == ["2027-03-12T09:00", "2027-03-15T09:00"]
    assert (len(shown["next"]), shown["cost_cents_each"]) == (10, 0)
    assert [post.text for post in made_posts(series)] == ["Rye of the week, no. 1", "Rye again, on 2027-03-15"]


def test_each_call_that_changes_a_series_does_what_is_said(api: ApiClient, mastodon: ConnectedAccount) -> None:
    _, change_rule, pause, read, skip, end = calls()
    series = create_guides_series(api, mastodon)
    known = {"SERIES": series["id"]}

    send(api, change_rule, **known)
    run_series_loop()
    assert days_made(series, status="cancelled") == ["03-12 08:00", "03-15 08:00"]
    assert days_made(series, status="scheduled") == ["03-16 08:00"]
    assert send(api, pause, **known)["series"]["status"] == "paused"
    following = send(api, read, **known)["series"]["next"][0]
    send(api, skip, **known, AT=following["at"])
    assert days_made(series, status="scheduled") == []
    assert send(api, end, **known)["series"]["status"] == "ended"


def test_the_rules_of_the_page_are_accepted(api: ApiClient, mastodon: ConnectedAccount) -> None:
    page = (Path(settings.BASE_DIR) / "docs/series.md").read_text()
    rules = re.findall(r"^\| `(FREQ=[^`]+)`", page, re.MULTILINE)

    assert len(rules) == 5
    for rule in rules:
        send(api, calls()[0], ACCOUNT=mastodon.id, changes={"rrule": rule})
