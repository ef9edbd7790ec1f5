"""The composer: chips and tabs of accounts, characters that are left, previews, and what an address fills in."""

from __future__ import annotations

import re
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from accounts.platforms.registry import PLATFORMS
from tests.factories import AccountFactory, MediaAssetFactory
from tests.posts.dashboard.dashboard import Dashboard, typed, words
from workspaces.models import Workspace

TEXT = "New #bread from @harbour.test, see https://example.com/bread."


def preview_of(page: Any, account: ConnectedAccount) -> str:
    """The HTML of an account's preview, from its heading to the end of its article."""
    found = re.search(rf'<article class="check" data-account="{account.id}".*?</article>', page.content.decode(), re.DOTALL)
    assert found
    return found[0]


def marked_in(preview: str) -> list[str]:
    return re.findall(r'<span class="marked">([^<]*)</span>', preview)


def open_tabs(page: Any) -> list[str]:
    return re.findall(r'<input type="radio" name="tab" checked value="([^"]*)">', page.content.decode())


def test_sandbox_accounts_are_folded_away_once_there_is_a_real_one(dashboard: Dashboard, workspace: Workspace) -> None:
    sandbox = AccountFactory(workspace=workspace, platform="mastodon")
    assert "<summary>Sandbox accounts" not in dashboard.get("compose").content.decode()

    AccountFactory(workspace=workspace, platform="bluesky", sandbox=False)
    assert "<details><summary>Sandbox accounts" in dashboard.get("compose").content.decode()
    assert "<details open><summary>Sandbox accounts" in dashboard.compose("check", sandbox).content.decode()


def test_the_tab_that_is_open_stays_open(dashboard: Dashboard, accounts: list[ConnectedAccount]) -> None:
    bluesky, mastodon, _ = accounts

    assert open_tabs(dashboard.compose("check", bluesky, mastodon)) == [""]
    assert open_tabs(dashboard.compose("check", bluesky, mastodon, tab=mastodon.id)) == [mastodon.id]
    assert open_tabs(dashboard.compose("check", bluesky, tab=mastodon.id)) == [""]


@pytest.mark.parametrize(
    ("length", "left", "state"), [(40, "260", "ring"), (290, "10", "ring near"), (310, "-10", "ring over")]
)
def test_a_tab_says_how_many_characters_are_left(
    dashboard: Dashboard, account: ConnectedAccount, length: int, left: str, state: str
) -> None:
    page = dashboard.compose("check", account, text="x" * length)

    assert f"{left} characters left" in words(page)
    assert f'<span class="{state}">' in page.content.decode()


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        ("bluesky", ["#bread", "@harbour.test", "https://example.com/bread"]),
        ("instagram", ["#bread", "@harbour.test"]),
        ("discord", ["https://example.com/bread"]),
    ],
)
def test_a_preview_marks_what_its_platform_colours(
    dashboard: Dashboard, workspace: Workspace, platform: str, expected: list[str]
) -> None:
    account = AccountFactory(workspace=workspace, platform=platform)

    assert marked_in(preview_of(dashboard.compose("check", account, text=TEXT), account)) == expected


def test_each_platform_has_a_preview_of_text_pictures_and_thread(dashboard: Dashboard, workspace: Workspace) -> None:
    every = [AccountFactory(workspace=workspace, platform=name, display_name=f"Baker of {name}") for name in PLATFORMS]
    pictures = [MediaAssetFactory(workspace=workspace).id for _ in range(6)]
    thread = {f"{every[0].id}-unshown": '{"thread": [{"text": "And a second part"}]}'}

    page = dashboard.compose("check", *every, text=TEXT, media=pictures, extra=thread)

    for account in every:
        preview = preview_of(page, account)
        assert f"<strong>Baker of {account.platform}</strong>" in preview
        assert "New" in preview
        assert "more</span>" in preview
    assert "And a second part" in preview_of(page, every[0])


def test_a_preview_shows_html_as_text(dashboard: Dashboard, account: ConnectedAccount) -> None:
    preview = preview_of(dashboard.compose("check", account, text='<script>alert("#a")</script> @x"><b>'), account)

    assert "<script" not in preview
    assert "<b>" not in preview
    assert "&lt;script&gt;" in preview


def test_a_link_fills_in_text_and_accounts(dashboard: Dashboard, accounts: list[ConnectedAccount]) -> None:
    bluesky, mastodon, _ = accounts
    page = dashboard.http.get(dashboard.address("compose"), {"text": "From a link", "account": [bluesky.id, mastodon.id]})

    assert typed(page, "text") == "From a link"
    for account in (bluesky, mastodon):
        assert f'name="account" value="{account.id}" checked' in page.content.decode()


def test_a_link_fills_in_no_account_of_another_workspace(dashboard: Dashboard) -> None:
    foreign = AccountFactory()

    page = dashboard.http.get(dashboard.address("compose"), {"account": foreign.id})

    assert foreign.id not in page.content.decode()
