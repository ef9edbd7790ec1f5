"""The composer's look-up of people to mention, as it works without scripts and as its search field uses it."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import HttpResponse

from accounts.models import ConnectedAccount
from tests.factories import AccountFactory, WorkspaceFactory
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.bluesky_methods import SEARCH_PEOPLE
from tests.posts.dashboard.dashboard import Dashboard, typed, words
from workspaces.models import Member, User, Workspace

INSERT_ADA = 'name="action" value="insert: @ada.test"'
UNAVAILABLE = "The look-up is not available at the moment."


@pytest.fixture(autouse=True)
def _ada(pds: FakeBluesky) -> None:
    pds.show_profile(pds.add_account("ada.test", ""), "Ada <Lovelace>")


def find(dashboard: Dashboard, *chosen: ConnectedAccount, words: str = "ada", **form: Any) -> HttpResponse:
    """What the search field gets while one types."""
    found: HttpResponse = dashboard.compose("people", *chosen, live=True, people_words=words, **form)
    return found


def said(answer: HttpResponse) -> str:
    return answer.content.decode().partition('hx-swap-oob="innerHTML">')[2].partition("</p>")[0]


def test_a_person_is_found_and_offered_as_a_mention(dashboard: Dashboard, bluesky_account: ConnectedAccount) -> None:
    answer = find(dashboard, bluesky_account)

    assert INSERT_ADA in answer.content.decode()
    assert "Ada &lt;Lovelace&gt;" in answer.content.decode()
    assert said(answer) == "1 person on Bluesky."
    assert said(find(dashboard, bluesky_account, words="nobody")) == "Nobody on Bluesky was found by this name or handle."
    assert b"insert:" not in find(dashboard, bluesky_account, words=" @ ").content


def test_without_scripts_a_button_finds_people_and_keeps_what_is_written(
    dashboard: Dashboard, bluesky_account: ConnectedAccount
) -> None:
    for action in ("people", "check"):  # Enter in a field presses the button of the check
        page = dashboard.compose(action, bluesky_account, people_words="ada", text="Thanks to")
        assert INSERT_ADA in page.content.decode()
        assert typed(page, "text") == "Thanks to"
        assert "1 person on Bluesky." in words(page)

    page = dashboard.compose("insert: @ada.test", bluesky_account, people_words="ada", text="Thanks to")
    assert typed(page, "text") == "Thanks to @ada.test"
    assert INSERT_ADA not in page.content.decode()


def test_the_account_of_the_open_tab_is_asked(
    dashboard: Dashboard, bluesky_account: ConnectedAccount, accounts: list[ConnectedAccount], pds: FakeBluesky
) -> None:
    _, mastodon, x = accounts

    assert b"@ada.sandbox.example" in find(dashboard, bluesky_account, mastodon, tab=mastodon.id).content
    assert said(find(dashboard, bluesky_account, x, tab=x.id)) == "X has no look-up of people."
    assert pds.requests_to(SEARCH_PEOPLE) == 0

    of_all = find(dashboard, x, bluesky_account, mastodon)
    assert said(of_all) == "1 person on Bluesky. On other platforms, the mention is plain text."
    assert pds.requests_to(SEARCH_PEOPLE) == 1


def test_an_account_has_to_be_chosen(dashboard: Dashboard, bluesky_account: ConnectedAccount, pds: FakeBluesky) -> None:
    sentence = "Choose an account on Bluesky to find people there."

    assert said(find(dashboard)) == sentence
    assert sentence in words(dashboard.compose("people", people_words="ada"))
    assert pds.requests_to(SEARCH_PEOPLE) == 0


def test_the_list_is_offered_where_a_platform_has_a_look_up(dashboard: Dashboard) -> None:
    assert 'name="people_words"' not in dashboard.get("compose").content.decode()

    AccountFactory(workspace=dashboard.workspace, platform="mastodon")

    assert 'name="people_words"' in dashboard.get("compose").content.decode()


@pytest.mark.parametrize("fault", ["rate limit", "outage", "no session", "reconnect"])
def test_a_fault_of_the_platform_costs_only_the_look_up(
    dashboard: Dashboard, bluesky_account: ConnectedAccount, pds: FakeBluesky, fault: str
) -> None:
    match fault:
        case "rate limit":
            pds.rate_limit_next(2)
        case "outage":
            pds.fail_next(SEARCH_PEOPLE, times=2)
        case "no session":
            pds.take_down(bluesky_account.external_id)
        case "reconnect":
            ConnectedAccount.objects.update(status="needs_reauth")

    answer = find(dashboard, bluesky_account)
    assert (answer.status_code, said(answer)) == (200, UNAVAILABLE)
    page = dashboard.compose("people", bluesky_account, people_words="ada", text="Thanks to")
    assert UNAVAILABLE in words(page)
    assert typed(page, "text") == "Thanks to"


def test_accounts_of_other_workspaces_are_not_asked(
    dashboard: Dashboard, bluesky_account: ConnectedAccount, pds: FakeBluesky
) -> None:
    ConnectedAccount.objects.update(workspace=WorkspaceFactory())

    assert INSERT_ADA not in find(dashboard, bluesky_account, tab=bluesky_account.id).content.decode()
    assert pds.requests_to(SEARCH_PEOPLE) == 0


@pytest.mark.parametrize(("role", "may"), [("admin", True), ("editor", True), ("member", False)])
def test_people_are_looked_up_by_those_who_may_write_posts(
    workspace: Workspace, teammate: User, bluesky_account: ConnectedAccount, pds: FakeBluesky, role: str, may: bool
) -> None:
    Member.objects.filter(user=teammate).update(role=role)

    answer = find(Dashboard(workspace, teammate), bluesky_account)

    assert (INSERT_ADA in answer.content.decode()) is may
    assert pds.requests_to(SEARCH_PEOPLE) == may


def test_nothing_is_looked_up_while_the_post_is_written(
    dashboard: Dashboard, bluesky_account: ConnectedAccount, pds: FakeBluesky
) -> None:
    for action in ("check", "thread:append", "keep"):
        dashboard.compose(action, bluesky_account, live=True, people_words="ada")

    assert pds.requests_to(SEARCH_PEOPLE) == 0
