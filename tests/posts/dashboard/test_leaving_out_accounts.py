"""The composer: an account that has a problem is left out of the post by a button, if another account remains."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from tests.factories import AccountFactory
from tests.posts.dashboard.dashboard import Dashboard, fields, words
from tests.posts.dashboard.test_repairs import press, repairs_on
from workspaces.models import Workspace


@pytest.fixture
def bluesky(workspace: Workspace) -> ConnectedAccount:
    return AccountFactory(workspace=workspace, platform="bluesky")


@pytest.fixture
def pinterest(workspace: Workspace) -> ConnectedAccount:
    return AccountFactory(workspace=workspace, platform="pinterest", handle="bread")


def test_an_account_with_a_problem_is_left_out_if_another_remains(
    dashboard: Dashboard, bluesky: ConnectedAccount, pinterest: ConnectedAccount
) -> None:
    content: dict[str, Any] = {"extra": {f"{pinterest.id}-title": "Rye"}}
    alone = dashboard.compose("check", pinterest, **content)
    assert "problem" in words(alone)
    assert "Leave out" not in words(alone)
    both = dashboard.compose("check", bluesky, pinterest, **content)
    assert [label for label in repairs_on(both) if "Leave out" in label] == ["Leave out Pinterest bread"]

    page = press(dashboard, "Leave out Pinterest bread", bluesky, pinterest, **content)

    assert "Valid for this account." in words(page)
    assert f'value="{bluesky.id}" checked' in page.content.decode()
    assert f'name="account" value="{pinterest.id}" autofocus' in page.content.decode()
    assert fields(page, f"{pinterest.id}-title") == ["Rye"]  # as if the person had left it out


def test_an_account_is_not_left_out_once_it_has_no_problem_or_is_the_last(
    dashboard: Dashboard, bluesky: ConnectedAccount, pinterest: ConnectedAccount
) -> None:
    fine = dashboard.compose(f"repair:{bluesky.id}|LEAVE_OUT", bluesky, pinterest)
    last = dashboard.compose(f"repair:{pinterest.id}|LEAVE_OUT", pinterest)

    assert f'name="account" value="{bluesky.id}" checked' in fine.content.decode()
    assert f'name="account" value="{pinterest.id}" checked' in last.content.decode()
