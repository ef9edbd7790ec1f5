"""The composer: creating posts through its buttons, with the API's validation."""

from __future__ import annotations

import gzip
import time
from datetime import UTC, datetime
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.models import ConnectedAccount
from accounts.platforms.registry import PLATFORMS
from auditlog.models import AuditEntry
from billing.models import LedgerEntry
from config.api import request_limits
from posts.models import PostGroup
from tests.factories import AccountFactory
from tests.hostile.texts import hostile_text
from tests.posts.dashboard.dashboard import Dashboard, fields, the_group, typed, words
from workspaces.models import Workspace

TOO_LONG = "word " * 80  # for Bluesky, which takes 300; Mastodon takes 500


def test_a_new_post_offers_the_accounts(
    dashboard: Dashboard, accounts: list[ConnectedAccount], django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    AccountFactory(workspace=dashboard.workspace, platform="slack", status="disconnected")
    with django_assert_max_num_queries(16):
        page = dashboard.get("compose")

    assert page.status_code == 200
    assert sorted(fields(page, "account")) == sorted(account.id for account in accounts)
    assert words(page).count("Sandbox") == 3
    assert "Choose an account to check the content." in words(page)


@pytest.mark.parametrize(
    ("action", "status", "message"), [("save", "draft", "Saved."), ("publish", "scheduled", "It is published in 10 seconds.")]
)
def test_each_save_button_creates_a_post(
    dashboard: Dashboard, accounts: list[ConnectedAccount], action: str, status: str, message: str
) -> None:
    answer = dashboard.compose(action, *accounts[:2], text="One\r\ntwo")

    group = the_group()
    assert (answer.status_code, answer["location"]) == (303, dashboard.address("post", group))
    assert (group.status, group.text, group.created_by_type) == (status, "One\ntwo", "user")
    assert {target.account_id for target in group.targets.all()} == {account.id for account in accounts[:2]}
    assert message in words(dashboard.get("post", group))


def test_choosing_an_account_shows_its_options(dashboard: Dashboard, accounts: list[ConnectedAccount]) -> None:
    page = dashboard.compose("check", *accounts, text="Hello")

    for account in accounts:
        assert f'/accounts/{account.id}" target="_blank"' in page.content.decode()


def test_an_account_can_have_its_own_text_and_options(dashboard: Dashboard, accounts: list[ConnectedAccount]) -> None:
    bluesky, mastodon, _ = accounts
    extra = {
        f"own-{mastodon.id}": "on",
        f"text-{mastodon.id}": "Only there",
        f"text-{bluesky.id}": "typed, but not switched on",
        f"{mastodon.id}-visibility": "unlisted",
        f"{mastodon.id}-sensitive": "false",
        f"{mastodon.id}-language": "",
    }
    dashboard.compose("save", bluesky, mastodon, extra=extra)

    targets = {target.account_id: target for target in the_group().targets.all()}
    assert (targets[bluesky.id].text, targets[bluesky.id].options) == (None, {})
    assert targets[mastodon.id].text == "Only there"
    assert targets[mastodon.id].options == {"visibility": "unlisted", "sensitive": False}


def test_link_card_options_are_saved_and_custom_text_is_preserved(
    dashboard: Dashboard, accounts: list[ConnectedAccount]
) -> None:
    bluesky, mastodon, _ = accounts
    field = f"{bluesky.id}-link_card"
    text = "See https://example.com/a"
    page = dashboard.compose("check", bluesky, mastodon, text=text)
    assert f'<select name="{field}"' in page.content.decode()
    assert words(page).count("With a link card of https://example.com/a") == 1
    assert "With a link card" not in words(dashboard.compose("check", bluesky, extra={field: "none"}, text=text))

    dashboard.compose("save", bluesky, extra={field: "none"}, text=text)
    group = the_group()
    assert [target.options for target in group.targets.all()] == [{"link_card": "none"}]

    own = {"url": "https://example.com/b", "title": "Mine"}
    group.targets.update(options={"link_card": own})
    page = dashboard.get("post-edit", group)
    assert f'name="{field}"' not in page.content.decode()
    [hidden] = fields(page, f"{bluesky.id}-unshown")
    version = fields(page, "content_version")[0]
    dashboard.compose("save", bluesky, group=group, extra={f"{bluesky.id}-unshown": hidden}, content_version=version)
    assert [target.options for target in the_group().targets.all()] == [{"link_card": own}]


def test_a_form_submitted_twice_creates_one_post(dashboard: Dashboard, account: ConnectedAccount) -> None:
    """A double click, or a reload of the response, sends the form twice."""
    first, second = (dashboard.compose("publish", account) for _ in range(2))

    assert first["location"] == second["location"] == dashboard.address("post", the_group())
    dashboard.compose("publish", account, key="another")
    assert PostGroup.objects.count() == 2


@pytest.mark.parametrize(
    ("action", "form", "message"),
    [
        ("publish", {"text": TOO_LONG}, "the content does not fit all accounts"),
        ("schedule", {}, "Choose the day and time."),
        ("schedule", {"when": "2027-03-09T09:00"}, "This time has passed. Choose a later one."),
        ("save", {"when": "soon"}, "Enter a date and time"),
        ("publish", {"text": "a" * 100_001}, "The text is too long. It may have at most 100,000 characters."),
        ("publish", {"key": ""}, "The form is incomplete. Load the page again"),
    ],
)
def test_an_invalid_form_is_shown_again(
    dashboard: Dashboard, account: ConnectedAccount, clock: Any, action: str, form: dict[str, Any], message: str
) -> None:
    page = dashboard.compose(action, account, **form)

    assert page.status_code == 422
    assert message in words(page)
    assert typed(page, "text") == form.get("text", "Hello")
    assert f'value="{account.id}" checked' in page.content.decode()
    assert not PostGroup.objects.exists()


def test_a_post_needs_an_account_of_the_workspace(dashboard: Dashboard) -> None:
    page = dashboard.compose("save", AccountFactory())

    assert (page.status_code, PostGroup.objects.exists()) == (422, False)
    assert "Choose at least one account." in words(page)


def test_a_spend_cap_refusal_is_reported_and_audited(dashboard: Dashboard, workspace: Workspace) -> None:
    Workspace.objects.update(free_monthly_credit_cents=0)
    real = AccountFactory(workspace=workspace, sandbox=False)

    page = dashboard.compose("publish", real)

    assert page.status_code == 422
    assert "spend cap" in words(page)
    assert not LedgerEntry.objects.exists()
    entry = AuditEntry.objects.get()
    assert (entry.operation, entry.code, entry.actor_type) == ("posts.create", "SPEND_CAP_EXCEEDED", "user")


def test_the_check_shows_the_issues_of_each_platform(
    dashboard: Dashboard, accounts: list[ConnectedAccount], django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(14):
        part = dashboard.compose("check", *accounts[:2], text=TOO_LONG, live=True)

    assert (part.status_code, "<html" in part.content.decode()) == (200, False)
    assert "400 of 300 characters" in words(part)
    assert "400 of 500 characters" in words(part)
    assert "1 problem to fix. It costs nothing." in words(part)
    assert not PostGroup.objects.exists()
    assert not AuditEntry.objects.exists()


def test_without_scripts_a_check_returns_the_whole_page(dashboard: Dashboard, account: ConnectedAccount) -> None:
    page = dashboard.compose("check", account, text=TOO_LONG)

    assert "400 of 300 characters" in words(page)
    assert typed(page, "text") == TOO_LONG


def test_a_repair_is_applied_with_one_click(dashboard: Dashboard, accounts: list[ConnectedAccount]) -> None:
    bluesky, mastodon, _ = accounts
    shown = dashboard.compose("check", bluesky, mastodon, text=TOO_LONG)
    assert 'value="repair:targets[0].text|TEXT_TOO_LONG"' in shown.content.decode()

    page = dashboard.compose("repair:targets[0].text|TEXT_TOO_LONG", bluesky, mastodon, text=TOO_LONG)

    shorter = typed(page, f"text-{bluesky.id}")
    assert 200 < len(shorter) <= 300
    assert typed(page, "text") == TOO_LONG
    assert "Valid for all accounts." in words(page)
    extra = {f"own-{bluesky.id}": "on", f"text-{bluesky.id}": shorter}
    assert dashboard.compose("publish", bluesky, mastodon, text=TOO_LONG, extra=extra).status_code == 303


def test_a_repair_that_is_no_longer_needed_changes_nothing(dashboard: Dashboard, account: ConnectedAccount) -> None:
    page = dashboard.compose("repair:targets[0].text|TEXT_TOO_LONG", account, text="Short")

    assert (page.status_code, typed(page, "text")) == (200, "Short")
    assert "Valid for this account." in words(page)


def test_an_account_that_needs_reauthentication_links_to_its_reconnection(dashboard: Dashboard, workspace: Workspace) -> None:
    lost = AccountFactory(workspace=workspace, status="needs_reauth")

    page = dashboard.compose("check", lost)

    assert f'href="{dashboard.address("accounts")}">Reconnect the account' in page.content.decode()


# Berlin's clocks skip 02:30 on 28 March 2027 and show it twice on 31 October.
@pytest.mark.parametrize(
    ("when", "which", "instant"),
    [
        ("2027-03-28T01:59", "", datetime(2027, 3, 28, 0, 59, tzinfo=UTC)),
        ("2027-03-28T03:00", "", datetime(2027, 3, 28, 1, tzinfo=UTC)),
        ("2027-10-31T02:30", "0", datetime(2027, 10, 31, 0, 30, tzinfo=UTC)),
        ("2027-10-31T02:30", "1", datetime(2027, 10, 31, 1, 30, tzinfo=UTC)),
    ],
)
def test_times_are_in_the_workspaces_time_zone(
    dashboard: Dashboard, account: ConnectedAccount, clock: Any, when: str, which: str, instant: datetime
) -> None:
    Workspace.objects.update(default_timezone="Europe/Berlin")

    assert dashboard.compose("schedule", account, when=when, which=which).status_code == 303

    assert (the_group().status, the_group().scheduled_at) == ("scheduled", instant)


@pytest.mark.parametrize(
    ("when", "message"),
    [
        ("2027-03-28T02:30", "so this time does not exist. Did you mean 03:30?"),
        ("2027-10-31T02:30", "The first time, 02:30 CEST (00:30 UTC)"),
    ],
)
def test_a_time_that_is_skipped_or_occurs_twice_shows_the_form_again(
    dashboard: Dashboard, account: ConnectedAccount, clock: Any, when: str, message: str
) -> None:
    Workspace.objects.update(default_timezone="Europe/Berlin")

    page = dashboard.compose("schedule", account, when=when)

    assert (page.status_code, PostGroup.objects.exists()) == (422, False)
    assert message in words(page)
    assert fields(page, "when") == [when]


def test_a_link_can_set_the_time(dashboard: Dashboard, clock: Any) -> None:
    assert fields(dashboard.get("compose", when="2027-03-12T09:00"), "when") == ["2027-03-12T09:00"]
    assert fields(dashboard.get("compose", when="<script>"), "when") == []


def test_every_sandbox_account_at_once_stays_small(dashboard: Dashboard, workspace: Workspace) -> None:
    every = [AccountFactory(workspace=workspace, platform=name) for name in PLATFORMS]

    page = dashboard.compose("check", *every, text="\N{PARTY POPPER}" * 3000)

    assert page.status_code == 200
    assert len(gzip.compress(page.content)) < 35_000


@pytest.mark.parametrize("shape", ["IDN domains", "flags", "combining marks out of order", "one long host"])
def test_a_hostile_text_is_checked_within_the_cpu_limit(dashboard: Dashboard, workspace: Workspace, shape: str) -> None:
    every = [AccountFactory(workspace=workspace, platform=name) for name in PLATFORMS]
    began = time.thread_time()

    page = dashboard.compose("check", *every, text=hostile_text(shape))

    assert page.status_code == 200
    assert time.thread_time() - began < 10  # a second is usual; what is not linear takes minutes


def test_a_check_that_takes_too_much_cpu_time_shows_a_message(
    dashboard: Dashboard, accounts: list[ConnectedAccount], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_limits, "REQUEST_CPU_SECONDS", 0.0)

    page = dashboard.compose("check", *accounts)

    assert "The request takes more work than one request may." in words(page)
