"""The composer: what its buttons make of the form, by the API's own rules."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.models import ConnectedAccount
from accounts.platforms.registry import PLATFORMS
from auditlog.models import AuditEntry
from billing.models import LedgerEntry
from config.api import budget
from posts.models import PostGroup
from tests.factories import AccountFactory
from tests.hostile.texts import hostile_text
from tests.posts.dashboard.desk import Desk, fields, the_group, typed, words
from workspaces.models import Workspace

TOO_LONG = "word " * 80  # for Bluesky, which takes 300; Mastodon takes 500


def test_an_empty_desk_offers_the_accounts(
    desk: Desk, accounts: list[ConnectedAccount], django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    AccountFactory(workspace=desk.workspace, platform="slack", status="disconnected")
    with django_assert_max_num_queries(14):
        page = desk.get("compose")

    assert page.status_code == 200
    assert sorted(fields(page, "account")) == sorted(account.id for account in accounts)
    assert words(page).count("Sandbox") == 3
    assert "Choose an account to see what it takes." in words(page)


@pytest.mark.parametrize(
    ("action", "status", "told"),
    [("keep", "draft", "Saved."), ("publish", "publishing", "It goes out now.")],
)
def test_the_buttons_make_a_post(
    desk: Desk, accounts: list[ConnectedAccount], action: str, status: str, told: str
) -> None:
    answer = desk.compose(action, *accounts[:2], text="One\r\ntwo")

    group = the_group()
    assert (answer.status_code, answer["location"]) == (303, desk.address("post", group))
    assert (group.status, group.text, group.created_by_type) == (status, "One\ntwo", "user")
    assert {target.account_id for target in group.targets.all()} == {account.id for account in accounts[:2]}
    assert told in words(desk.get("post", group))


def test_a_chosen_account_leads_to_what_it_takes(desk: Desk, accounts: list[ConnectedAccount]) -> None:
    page = desk.compose("check", *accounts, text="Hello")

    for account in accounts:
        assert f'/accounts/{account.id}" target="_blank"' in page.content.decode()


def test_a_text_and_options_of_an_account_of_its_own(desk: Desk, accounts: list[ConnectedAccount]) -> None:
    bluesky, mastodon, _ = accounts
    extra = {
        f"own-{mastodon.id}": "on",
        f"text-{mastodon.id}": "Only there",
        f"text-{bluesky.id}": "typed, but not switched on",
        f"{mastodon.id}-visibility": "unlisted",
        f"{mastodon.id}-sensitive": "false",
        f"{mastodon.id}-language": "",
    }
    desk.compose("keep", bluesky, mastodon, extra=extra)

    targets = {target.account_id: target for target in the_group().targets.all()}
    assert (targets[bluesky.id].text, targets[bluesky.id].options) == (None, {})
    assert targets[mastodon.id].text == "Only there"
    assert targets[mastodon.id].options == {"visibility": "unlisted", "sensitive": False}


def test_the_link_card_is_chosen_and_told_and_own_words_are_kept(desk: Desk, accounts: list[ConnectedAccount]) -> None:
    bluesky, mastodon, _ = accounts
    field = f"{bluesky.id}-link_card"
    text = "See https://example.com/a"
    page = desk.compose("check", bluesky, mastodon, text=text)
    assert f'<select name="{field}"' in page.content.decode()
    assert words(page).count("With a link card of https://example.com/a") == 1
    assert "With a link card" not in words(desk.compose("check", bluesky, extra={field: "none"}, text=text))

    desk.compose("keep", bluesky, extra={field: "none"}, text=text)
    group = the_group()
    assert [target.options for target in group.targets.all()] == [{"link_card": "none"}]

    own = {"url": "https://example.com/b", "title": "Mine"}
    group.targets.update(options={"link_card": own})
    page = desk.get("post-edit", group)
    assert f'name="{field}"' not in page.content.decode()
    [kept] = fields(page, f"{bluesky.id}-kept")
    version = fields(page, "content_version")[0]
    desk.compose("keep", bluesky, group=group, extra={f"{bluesky.id}-kept": kept}, content_version=version)
    assert [target.options for target in the_group().targets.all()] == [{"link_card": own}]


def test_a_form_that_is_sent_twice_posts_once(desk: Desk, account: ConnectedAccount) -> None:
    """As a double click does, and a reload of what it answers."""
    first, second = (desk.compose("publish", account) for _ in range(2))

    assert first["location"] == second["location"] == desk.address("post", the_group())
    desk.compose("publish", account, key="another")
    assert PostGroup.objects.count() == 2


@pytest.mark.parametrize(
    ("action", "form", "told"),
    [
        ("publish", {"text": TOO_LONG}, "the content does not fit all accounts yet"),
        ("schedule", {}, "Choose the day and time."),
        ("schedule", {"when": "2027-03-09T09:00"}, "Lies more than 60 seconds in the past."),
        ("keep", {"when": "soon"}, "Write a day and a time"),
        ("publish", {"text": "a" * 100_001}, "no more than 100000 characters"),
        ("publish", {"key": ""}, "1 to 255"),
    ],
)
def test_a_form_with_mistakes_is_shown_again(
    desk: Desk, account: ConnectedAccount, clock: Any, action: str, form: dict[str, Any], told: str
) -> None:
    page = desk.compose(action, account, **form)

    assert page.status_code == 422
    assert told in words(page)
    assert typed(page, "text") == form.get("text", "Hello")
    assert f'value="{account.id}" checked' in page.content.decode()
    assert not PostGroup.objects.exists()


def test_a_post_needs_an_account_of_the_workspace(desk: Desk) -> None:
    page = desk.compose("keep", AccountFactory())

    assert (page.status_code, PostGroup.objects.exists()) == (422, False)
    assert "Choose at least one account." in words(page)


def test_what_the_caps_refuse_is_told_and_on_record(desk: Desk, workspace: Workspace) -> None:
    Workspace.objects.update(free_monthly_credit_cents=0)
    real = AccountFactory(workspace=workspace, sandbox=False)

    page = desk.compose("publish", real)

    assert page.status_code == 422
    assert "spend cap" in words(page)
    assert not LedgerEntry.objects.exists()
    entry = AuditEntry.objects.get()
    assert (entry.operation, entry.code, entry.actor_type) == ("posts.create", "SPEND_CAP_EXCEEDED", "user")


def test_the_check_says_what_each_platform_takes(
    desk: Desk, accounts: list[ConnectedAccount], django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(14):
        part = desk.compose("check", *accounts[:2], text=TOO_LONG, live=True)

    assert (part.status_code, "<html" in part.content.decode()) == (200, False)
    assert "400 of 300 characters" in words(part)
    assert "400 of 500 characters" in words(part)
    assert "1 problem to mend. It costs nothing." in words(part)
    assert not PostGroup.objects.exists()
    assert not AuditEntry.objects.exists()


def test_the_check_names_the_price(desk: Desk, workspace: Workspace) -> None:
    real = AccountFactory(workspace=workspace, sandbox=False, platform="x")

    part = desk.compose("check", real, text="See https://example.com", live=True)

    assert "It costs $0.20 of the $1.00 that may still be spent this month." in words(part)


def test_without_scripts_the_whole_page_is_answered(desk: Desk, account: ConnectedAccount) -> None:
    page = desk.compose("check", account, text=TOO_LONG)

    assert "400 of 300 characters" in words(page)
    assert typed(page, "text") == TOO_LONG


def test_a_repair_is_applied_with_one_click(desk: Desk, accounts: list[ConnectedAccount]) -> None:
    bluesky, mastodon, _ = accounts
    shown = desk.compose("check", bluesky, mastodon, text=TOO_LONG)
    assert 'value="repair:targets[0].text|TEXT_TOO_LONG"' in shown.content.decode()

    page = desk.compose("repair:targets[0].text|TEXT_TOO_LONG", bluesky, mastodon, text=TOO_LONG)

    shorter = typed(page, f"text-{bluesky.id}")
    assert 200 < len(shorter) <= 300
    assert typed(page, "text") == TOO_LONG
    assert "It fits all accounts." in words(page)
    extra = {f"own-{bluesky.id}": "on", f"text-{bluesky.id}": shorter}
    assert desk.compose("publish", bluesky, mastodon, text=TOO_LONG, extra=extra).status_code == 303


def test_a_repair_that_is_not_needed_any_more_changes_nothing(desk: Desk, account: ConnectedAccount) -> None:
    page = desk.compose("repair:targets[0].text|TEXT_TOO_LONG", account, text="Short")

    assert (page.status_code, typed(page, "text")) == (200, "Short")
    assert "It fits its account." in words(page)


def test_a_lost_account_leads_to_its_reconnection(desk: Desk, workspace: Workspace) -> None:
    lost = AccountFactory(workspace=workspace, status="needs_reauth")

    page = desk.compose("check", lost)

    assert f'href="{desk.address("accounts")}">Reconnect the account' in page.content.decode()


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
def test_times_are_on_the_workspaces_clocks(
    desk: Desk, account: ConnectedAccount, clock: Any, when: str, which: str, instant: datetime
) -> None:
    Workspace.objects.update(default_timezone="Europe/Berlin")

    assert desk.compose("schedule", account, when=when, which=which).status_code == 303

    assert (the_group().status, the_group().scheduled_at) == ("scheduled", instant)


@pytest.mark.parametrize(
    ("when", "told"),
    [
        ("2027-03-28T02:30", "so it never comes. Did you mean 03:30?"),
        ("2027-10-31T02:30", "The first time, 02:30 CEST (00:30 UTC)"),
    ],
)
def test_a_time_that_never_comes_or_comes_twice_is_asked_for_again(
    desk: Desk, account: ConnectedAccount, clock: Any, when: str, told: str
) -> None:
    Workspace.objects.update(default_timezone="Europe/Berlin")

    page = desk.compose("schedule", account, when=when)

    assert (page.status_code, PostGroup.objects.exists()) == (422, False)
    assert told in words(page)
    assert fields(page, "when") == [when]


def test_a_link_may_bring_the_time(desk: Desk, clock: Any) -> None:
    assert fields(desk.get("compose", when="2027-03-12T09:00"), "when") == ["2027-03-12T09:00"]
    assert fields(desk.get("compose", when="<script>"), "when") == []


def test_every_sandbox_account_at_once_stays_under_100_kb(desk: Desk, workspace: Workspace) -> None:
    every = [AccountFactory(workspace=workspace, platform=name) for name in PLATFORMS]

    page = desk.compose("check", *every, text="\N{PARTY POPPER}" * 3000)

    assert page.status_code == 200
    assert len(page.content) < 100_000


@pytest.mark.parametrize("shape", ["IDN domains", "flags", "combining marks out of order", "one long host"])
def test_a_hostile_text_is_checked_at_little_cost(desk: Desk, workspace: Workspace, shape: str) -> None:
    every = [AccountFactory(workspace=workspace, platform=name) for name in PLATFORMS]
    began = time.thread_time()

    page = desk.compose("check", *every, text=hostile_text(shape))

    assert page.status_code == 200
    assert time.thread_time() - began < 10  # a second is usual; what is not linear takes minutes


def test_a_check_that_takes_too_much_cpu_time_says_so(
    desk: Desk, accounts: list[ConnectedAccount], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "REQUEST_CPU_SECONDS", 0.0)

    page = desk.compose("check", *accounts)

    assert "The request takes more work than one request may." in words(page)
